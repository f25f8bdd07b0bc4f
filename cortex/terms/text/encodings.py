"""Bytes of a file → text: by its byte order mark, as UTF-8, by the encoding that the file or its
project names, else by a guess. Pure; cortex/settings/encodings.py reads the names of a project.
"""

import codecs
import re
from collections.abc import Callable
from typing import NamedTuple

#: bytes at the beginning of a file that show whether it is text, as in git; a file names its
#: encoding there
HEAD_BYTES = 8000
#: letters in UTF-8 below which a file may be valid by chance: with fewer, a named encoding of
#: several bytes wins
BY_CHANCE_MAX = 8
#: valid letters for each invalid byte from which a file counts as UTF-8 with some other bytes
VALID_MIN = 4
#: the end of a remark on a text whose encoding nothing names
BY_GUESS = "a guess"
#: share of control characters above which a file in no known encoding is binary
CONTROLS_MAX = 0.02
#: lines at both ends of a file in which Vim looks for its settings
MODELINES = 5

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAME = rb"""["']?\s*([A-Za-z][\w.:-]*)"""
#: in the first two lines: PEP 263, Emacs, Ruby
_COMMENT = re.compile(rb"\b(?:en)?coding\s*[:=]\s*" + _NAME)
#: in the head
_HEADS = tuple(
    re.compile(expression + _NAME, re.IGNORECASE)
    for expression in (
        rb"\A\s*<\?xml\b[^>]*?\bencoding\s*=\s*",
        rb"<meta\b[^>]*?\bcharset\s*=\s*",
        rb"\A@charset\s+",
        rb"<%@[^>]*?\b(?:pageEncoding|charset)\s*=\s*",
        rb"(?m:^)\s*use\s+encoding\b[\s(:q]*",
        rb"\\usepackage\s*\[\s*(?=[^\]]*\]\s*\{inputenc\})",
        rb"\bdeclare\s*\(\s*encoding\s*=\s*",
    )
)
_VIM = re.compile(rb"\b(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([\w.-]+)")
#: names without a codec, and names that stand for a larger encoding, as in browsers
_ALIASES = {
    "ansinew": "cp1252", "applemac": "mac-roman", "x-sjis": "cp932", "x-gbk": "gb18030",
    "windows-31j": "cp932", "sjis-win": "cp932", "x-euc-jp": "euc-jp", "x-mac-roman": "mac-roman",
    "binary": "",
}  # fmt: skip
#: encodings that others extend: tried where the text is not valid in them
_LARGER = {
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    "big5": "big5hkscs", "euc_jp": "euc_jis_2004", "tis-620": "cp874",
}  # fmt: skip
#: codecs whose text is not that of an editor
_NO_ENCODINGS = frozenset(("unicode-escape", "raw-unicode-escape", "punycode", "idna", "undefined", "utf-7"))
#: codec → its name in answers
_NAMES = {
    "cp932": "Shift-JIS", "cp949": "EUC-KR", "gb18030": "GBK", "gb2312": "GBK", "gbk": "GBK",
    "iso8859-1": "Latin-1", "koi8-r": "KOI8-R", "koi8-u": "KOI8-U",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
#: name of the error handler that reads an invalid byte alone
_SINGLE_BYTES = "cortex-single-bytes"


class Text(NamedTuple):
    """The text of a file. `encoding` is the codec, "" for UTF-8; `remark` describes it for people,
    and ends in BY_GUESS if neither the file nor its project names the encoding.
    """

    text: str
    encoding: str = ""
    remark: str = ""

    def lines(self) -> list[str]:
        """Return the lines without their ends; CRLF and CR end one, too."""
        text = self.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.split("\n")


def read_text(raw: bytes, named: Callable[[], str] = lambda: "") -> Text | None:
    """Return the text of `raw`; None for a binary file.

    `named` returns the encoding that the project names for the file, "" for none; it is called only
    where UTF-8 does not decide.
    """
    for mark, codec in _MARKS:
        if raw.startswith(mark):
            return _read_marked(raw, len(mark), codec)
    if b"\0" in raw[:HEAD_BYTES]:
        return _read_wide(raw, named)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None if b"\0" in raw else _read_other(raw, named)
    is_sure = len(raw) - len(text) >= 2 * BY_CHANCE_MAX or b"\0" in raw
    if is_sure or (text.isascii() and b"\x1b" not in raw):
        return Text(text)
    codec = find_codec(declared_name(raw)) or find_codec(named())
    if codec and _is_variable(codec) and (other := _decode(raw, codec)) and other.text != text:
        return other
    return Text(text)


def declared_name(raw: bytes) -> str:
    """Return the encoding that a file names in its own bytes, as written; "" for none."""
    head = raw[:HEAD_BYTES]
    lines = head.split(b"\n", MODELINES)
    for line in lines[:2]:
        if match := _COMMENT.search(line):
            return match[1].decode("ascii")
    for expression in _HEADS:
        if match := expression.search(head):
            return match[1].decode("ascii")
    last = raw[-HEAD_BYTES:].rstrip(b"\r\n").rsplit(b"\n", MODELINES)[-MODELINES:]
    for line in (*lines[:MODELINES], *last):
        if match := _VIM.search(line):
            return match[1].decode("ascii")
    return ""


def find_codec(name: str) -> str:
    """Return Python's name of an encoding; "" for an unknown one, and for one that is no text."""
    name = name.strip().lower()
    for ending in ("-unix", "-dos", "-mac", "-bom"):  # Emacs, git
        name = name.removesuffix(ending)
    try:
        codec = codecs.lookup(_ALIASES.get(name, name))
    except (LookupError, ValueError):
        return ""
    if codec.name.replace("_", "-") in _NO_ENCODINGS or not getattr(codec, "_is_text_encoding", True):
        return ""
    return codec.name


def encoding_name(codec: str) -> str:
    named = _NAMES.get(codec)
    if named is None:
        named = (
            f"Windows-{codec[2:]}" if re.fullmatch(r"cp12\d\d", codec) else codec.upper().replace("_", "-")
        )
    return named


def _read_marked(raw: bytes, length: int, codec: str) -> Text | None:
    body = raw[length:]
    if codec == "utf-8":
        read = _read_utf8(body) or _read_mixed(body)
        return None if read and read.remark and b"\0" in raw else read or _read_other(body, lambda: "")
    try:
        return Text(body.decode(codec), codec)
    except UnicodeDecodeError:
        return None


def _read_utf8(raw: bytes) -> Text | None:
    try:
        return Text(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _read_wide(raw: bytes, named: Callable[[], str]) -> Text | None:
    """Read text with NUL bytes, which only UTF-16 and UTF-32 have."""
    codec = find_codec(named())
    if codec.startswith(("utf-16", "utf-32")) and (read := _decode(raw, codec)):
        return read
    head = raw[: HEAD_BYTES & ~3]
    for codec, first in (("utf-16-le", 1), ("utf-16-be", 0)):
        here, there = head[first::2].count(0), head[1 - first :: 2].count(0)
        if len(raw) % 2 == 0 and there == 0 and 2 * here >= len(head) // 2:
            read = _decode(raw, codec, is_guess=True)
            return None if read is None or _CONTROL.search(read.text) else read
    return None


def _read_other(raw: bytes, named: Callable[[], str]) -> Text | None:
    for name in (declared_name(raw), named()):
        codec = find_codec(name)
        if codec and codec != "utf-8" and not codec.startswith(("utf-16", "utf-32")):
            read = _decode(raw, codec) or _decode(raw, _LARGER.get(codec, ""))
            if read:
                return read
    if mixed := _read_mixed(raw):
        return mixed
    from cortex.terms.text.charsets import guess  # slow imports, for few files

    read = _decode(raw, guess(raw), is_guess=True)
    if read is None or len(_CONTROL.findall(read.text)) > CONTROLS_MAX * len(read.text):
        return None
    return read


def _read_mixed(raw: bytes) -> Text | None:
    """Read UTF-8 with some other bytes, each as a letter; None where they are not few."""
    text = raw.decode("utf-8", _SINGLE_BYTES)
    other = sum(1 for byte in raw.decode("utf-8", "surrogateescape") if "\udc80" <= byte <= "\udcff")
    valid = sum(1 for letter in text if letter > "\x7f") - other
    if valid < VALID_MIN * other:
        return None
    count = f"{other} bytes that are" if other > 1 else "one byte that is"
    return Text(text, "utf-8-mixed", f"not UTF-8: read as UTF-8 with {count} not, {BY_GUESS}")


def _decode(raw: bytes, codec: str, *, is_guess: bool = False) -> Text | None:
    """Return the text in the encoding; None where it is not valid."""
    if not codec:
        return None
    if codec == "iso8859-1" and re.search(rb"[\x80-\x9f]", raw):
        codec = "cp1252"  # as browsers read it
    try:
        text = raw.decode(codec)
    except (UnicodeDecodeError, LookupError, ValueError):
        return None if codec != "cp1252" else _decode_latin(raw, is_guess=is_guess)
    return Text(text, codec, _remark(encoding_name(codec), is_guess=is_guess))


def _decode_latin(raw: bytes, *, is_guess: bool) -> Text:
    """Read as Latin-1, which fits any bytes."""
    return Text(raw.decode("latin-1"), "iso8859-1", _remark("Latin-1", is_guess=is_guess))


def _remark(name: str, *, is_guess: bool) -> str:
    return f"not UTF-8: read as {name}, {BY_GUESS if is_guess else 'as declared'}"


def _is_variable(codec: str) -> bool:
    """Whether letters of the encoding have several bytes."""
    return codec.startswith(("gb", "big5", "shift", "euc", "cp9", "iso2022", "hz", "johab"))


def _single_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return bad.decode("cp1252", "replace").replace("\ufffd", "?"), error.end


codecs.register_error(_SINGLE_BYTES, _single_bytes)
