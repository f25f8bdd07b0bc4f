"""Bytes in any encoding, read as the text that was written."""

import codecs
import os
import random

import pytest

from cortex.terms.text.encodings import BY_GUESS, find_codec, read_text

CHINESE = "# 计算订单总额\nx = 1\n"
#: text in an encoding that it names itself: (codec, text)
DECLARED = [
    ("gbk", "# -*- coding: gbk -*-\n" + CHINESE),
    ("gb2312", "#!/usr/bin/env python\n# vim: set fileencoding=gb2312 :\n" + CHINESE),
    ("euc_jp", "# coding: euc-jp\n# 在庫を調べる\n"),
    ("euc_jp", "# encoding: EUC-JP-unix\n# 在庫を調べる\n"),
    ("iso2022_jp", "# coding: iso-2022-jp\n# 在庫を調べる\n"),
    ("cp1251", '<?xml version="1.0" encoding="windows-1251"?>\n<shop name="заказ"/>\n'),
    ("koi8_r", "<?xml version='1.0' encoding='KOI8-R'?>\n<shop name='заказ'/>\n"),
    ("shift_jis", '<!doctype html><meta charset="shift_jis"><title>注文画面</title>\n'),
    (
        "big5",
        "<html><head>\n<meta http-equiv='Content-Type' content='text/html; charset=big5'>\n訂單</head>\n",
    ),
    ("cp1250", '@charset "windows-1250";\n/* żółć */\n'),
    ("cp1250", "use strict;\nuse encoding 'cp1250';\n# żółć\n"),
    ("cp1253", '<%@ page language="java" pageEncoding="windows-1253" %>\n<p>σύνολο</p>\n'),
    ("latin_1", "\\documentclass{article}\n\\usepackage[latin1]{inputenc}\nGröße\n"),
    ("cp1252", "\\usepackage[ansinew]{inputenc}\n„Größe“\n"),
    ("latin_1", "<?php\ndeclare(encoding='ISO-8859-1');\n// Größe\n"),
    ("koi8_r", "int x;\n\n\n\n\n\n\n\n\n// заказ\n/* vim: set fenc=koi8-r : */\n"),
    ("iso8859_2", ".. -*- coding: iso-8859-2; mode: rst -*-\n\nżółć\n"),
]


@pytest.mark.parametrize(("codec", "text"), DECLARED)
def test_text_is_read_as_it_says(codec, text):
    read = read_text(text.encode(codec))
    assert read.text == text
    assert read.remark.startswith("not UTF-8: read as ") == bool(read.encoding)
    assert not read.remark.endswith(BY_GUESS)


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("gbk", CHINESE),
        ("gbk", "// 用户登录失败\n// 删除文件\n"),
        ("cp1251", "# заказ\nx = 1\n"),
        ("cp1251", "name = 'Иван'\n"),
        ("koi8_r", "// Функция вычисляет сумму заказа\n"),
        ("shift_jis", "<title>注文画面</title>\n"),
        ("shift_jis", "// エラー\n"),
        ("euc_jp", "# 在庫を調べる\n"),
        ("euc_kr", "# 주문 합계\n"),
        ("euc_kr", "// 사용자 로그인\n"),
        ("big5", "// 這個函數用來計算訂單的總金額\n"),
        ("latin_1", "# añade\nx = 1\n"),
        ("latin_1", "# prénom de l'élève, naïve\n"),
        ("cp1252", "// don’t – “quoted”\n"),
        ("cp1250", "// Zażółć gęślą jaźń\n"),
        ("cp1253", "// Η συνάρτηση υπολογίζει το σύνολο\n"),
    ],
)
def test_text_that_names_no_encoding_is_guessed_and_called_a_guess(codec, text):
    read = read_text(b"int main() { return 0; }\n" * 40 + text.encode(codec))
    assert read.text.endswith(text)
    assert read.remark.endswith(BY_GUESS)


@pytest.mark.parametrize(
    "codec", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-be", "utf-8"]
)
def test_a_byte_order_mark_decides_and_is_no_text(codec):
    marks = {
        "utf-16-le": codecs.BOM_UTF16_LE,
        "utf-16-be": codecs.BOM_UTF16_BE,
        "utf-32-be": codecs.BOM_UTF32_BE,
    }
    text = "# coding: gbk\n# Größe 计算订单总额 заказ\n"
    text = text if codec != "utf-8" else text.replace("gbk", "utf-8")
    read = read_text(marks.get(codec, b"") + text.encode(codec))
    assert read.text == text
    assert not read.remark


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_wide_letters_without_a_mark_are_text_and_wide_numbers_are_not(codec):
    text = 'STRINGTABLE\r\nBEGIN\r\n  IDS_HELLO "Grüße"\r\nEND\r\n'
    read = read_text(text.encode(codec))
    assert read.text == text
    assert read.remark.endswith(BY_GUESS)
    numbers = b"".join(n.to_bytes(2, "little" if codec.endswith("le") else "big") for n in range(200))
    assert read_text(numbers) is None


def test_names_of_the_project_count_where_the_file_names_none():
    raw = "# цена\n".encode("koi8_r")
    assert read_text(raw, lambda: "koi8-r").text == "# цена\n"
    assert read_text(b"# coding: cp1251\n" + "# цена\n".encode("cp1251"), lambda: "koi8-r").text.endswith(
        "# цена\n"
    )
    assert read_text("Größe".encode("utf-16-le"), lambda: "UTF-16LE").text == "Größe"


def test_utf8_wins_over_another_name_unless_it_may_be_there_by_chance():
    long = "<meta charset=iso-8859-1><p>Größe, Öffnung, Übung, äußere Füße, größer, höher, schöner</p>"
    assert read_text(long.encode()).text == long
    assert not read_text(long.encode()).remark
    short = "# coding: gbk\n# 通\n"
    assert short.encode("gbk").decode("utf-8")  # valid by chance
    assert read_text(short.encode("gbk")).text == short


@pytest.mark.parametrize(
    "name", ["no-such-codec", "rot13", "hex", "zip", "unicode_escape", "idna", "utf-7", "x" * 500]
)
def test_names_of_no_encoding_are_ignored(name):
    assert find_codec(name) == ""
    raw = b"# coding: " + name.encode() + b"\nx = '\\n +ADw- %s'\n"
    read = read_text(raw)
    assert read is not None
    assert read.text == raw.decode()


def test_some_other_bytes_do_not_spoil_the_letters_of_utf8():
    raw = "/* Größe Öl Übung ärger äußerst Füße süß Maß höher */\n".encode() + b"/* \xf6ffnen */\n"
    read = read_text(raw)
    assert "Größe Öl" in read.text
    assert "/* öffnen */" in read.text
    assert "one byte" in read.remark


def test_bytes_of_no_text_are_binary():
    noise = random.Random(3).randbytes(4000).replace(b"\0", b"\1")
    assert read_text(noise) is None
    assert read_text(b"\x89PNG\r\n\x1a\n" + noise) is None
    assert read_text(b"ELF\0\1") is None
    assert read_text(b"a" * 9000 + b"\xff\0\xfe") is None
    assert read_text(codecs.BOM_UTF16_LE + b"a\0b") is None


def test_any_bytes_are_read_or_binary():
    drawn = random.Random(int(os.environ.get("CORTEX_FUZZ_SEED", "7")))
    heads = [
        b"",
        b"# coding: gbk\n",
        b"# coding: iso-2022-jp\n\x1b$B",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"<meta charset=big5>",
    ]
    for _ in range(300):
        size = drawn.randrange(60)
        raw = drawn.choice(heads) + bytes(
            drawn.choice((10, 32, 65, 97, 195, 164, 228, drawn.randrange(256))) for _ in range(size)
        )
        read = read_text(raw, lambda: drawn.choice(["", "utf-16le", "gbk", "latin1", "\udcff"]))
        if read is not None:
            assert read.text.encode("utf-8", "surrogatepass") is not None


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("codec", ["gbk", "utf-8", "utf-16"])
def test_lines_are_those_of_the_file_whatever_ends_them(codec, ends):
    lines = ["# -*- coding: gbk -*-", "# 计算订单总额", "\x0c", "def f(): return '\u00b7'"]
    read = read_text(ends.join(lines).encode(codec))
    assert read.lines() == lines
