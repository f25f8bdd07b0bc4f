"""Words of code: neither comments nor strings hold any, and a member has an owner."""

import pytest

from cortex.ask.lines.code_words import find_declaration, names_in_code, only_code, words_in_code
from cortex.ask.lines.receivers import Owner

#: path → a text with `size` in code, in each line with a number
TEXTS = {
    "a.py": (
        (
            "a.size  # the size\n"
            "# size\n"
            "b = \"size\" + 'size'\n"
            "size_of = _size\n"
            '"""The\nsize of it.\n"""\n'
            'print(f"{a.size} size")  # 8\n'
        ),
        [1, 8],
    ),
    "a.ts": (
        "a?.size; // size\n/* size\n size */\nlet b = `size ${a.size}`;\nlet r = x.replace(/[\"']size/, size);\n",
        [1, 4, 5],
    ),
    "a.rs": (
        'fn a<\'a>(x: &\'a T) { x.size }\nlet s = r#"a "size" "#;\n// size\nlet c = \'"\'; size;\n',
        [1, 4],
    ),
    "a.cs": (
        'var a = @"C:\\size\\";\nvar b = $"size {c.size}";\nvar d = "a \\" size";\nc.size = 1;\n',
        [2, 4],
    ),
    "a.go": ("a.size\nb := `size\nsize`\nc := '\"' + size\n", [1, 4]),
    "a.rb": ('a.size # size\nb = "size #{a.size}"\n=begin\nsize\n=end\n@size\n', [1, 2, 6]),
    "a.sh": ('x=${#size} # size\necho "size"\n', [1]),
    "b.sh": ('[ "$size" ] # $size\nx=$($size -a \'$size\')\necho "\\$size"\ny="$($size b)"\n', [1, 2, 4]),
    "a.scss": ("$size: 3px;\n.a { top: $size; }\n// $size\n.a-size-b { left: $sizes; }\n", [1, 2, 4]),
    "a.svelte": ("$size = 1;\n{#if $size}<!-- $size -->{/if}\n{$sizes}\n", [1, 2]),
    "a.kt": ('val a = "cost $size"\nval b = "size"\n', [1]),
    "a.pl": ("# size\n$a->{b} = size($c);\n", [2]),
    "a.clj": ("; size\n(size a)\n", [2]),
    "a.lua": ("a.size -- size\n--[[ size\nsize ]]\n", [1]),
    "a.java": ('String t = """\n size\n""";\nchar c = \'"\';\nint n = a.size;\n', [5]),
}


@pytest.mark.parametrize("path", TEXTS)
def test_comments_and_strings_hold_no_words(path):
    text, lines = TEXTS[path]
    code = only_code(path, text)
    assert (len(code), code.count("\n")) == (len(text), text.count("\n"))
    assert [line for line, *_ in words_in_code(path, text, "size")] == lines


def test_a_member_counts_without_a_receiver_where_its_type_is():
    owner = Owner("Load", "a.py", 1, 3)
    text = (
        "class Load:\n"
        "    size: int = 0\n"
        "    other: int\n"
        "size = 3\n"
        "load = Load(other=1, size=size)\n"
        "load.size = 1\n"
        "make(size=2)\n"
    )
    assert list(words_in_code("a.py", text, "size", owner)) == [
        (2, False, False),
        (5, False, False),
        (6, True, False),
    ]
    assert list(words_in_code("b.py", text, "size", owner)) == [(5, False, False), (6, True, False)]


def test_a_language_without_receivers_may_name_a_member_alone():
    owner = Owner("Load", "Load.java", 1, 3)
    text = "class Big extends Load {\n  int twice() { return 2 * size; }\n}\n"
    assert list(words_in_code("Big.java", text, "size", owner)) == [(2, False, False)]
    assert not list(words_in_code("Big.java", text.replace("Load", "Other"), "size", owner))


def test_a_dollar_is_a_letter_where_names_may_have_one():
    for path in ("a.ts", "a.js", "a.php", "a.java"):
        assert not list(words_in_code(path, "$size(1)\nsize$ = 2\n", "size")), path
    styles = "{{ $emit(1) }}\n<style lang='scss'>\na { top: $size; }\n</style>\n"
    assert [line for line, *_ in words_in_code("a.vue", styles, "size")] == [3]
    assert not list(words_in_code("a.vue", styles, "emit"))
    runes = "let state = 1\nlet other = $state(0)\n"
    assert [line for line, *_ in words_in_code("a.svelte", runes, "state")] == [1]


def test_a_closing_tag_is_no_use_of_its_own():
    text = "<Card\n  a>\n  b\n</Card>\n<Card/></Card>\n"
    for path in ("a.vue", "a.svelte", "a.tsx"):
        assert [line for line, *_ in words_in_code(path, text, "Card")] == [1, 5], path


def test_a_name_with_hyphens_is_no_part_of_a_longer_one():
    text = ".is-loading {}\n.is-loading-small {}\n.x-is-loading {}\n.a.is-loading::after {}\n"
    assert [line for line, *_ in words_in_code("a.scss", text, "is-loading")] == [1, 4]
    text = "a { color: var(--primary); }\nb { color: var(--primary-light); }\n"
    assert [line for line, *_ in words_in_code("a.css", text, "--primary")] == [1]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("a.save(1)", True),
        ("save(1)", True),
        ("run(save)", True),
        ("run(key=save)", True),
        ("handler = a.save", True),
        ("run(save=1)", False),
        ("{save: 1}", False),
        ("# save(1)", False),
        ("x = 'save()'", False),
        ("save_all()", False),
    ],
)
def test_a_function_is_named_by_a_call_or_as_a_value(line, named):
    assert names_in_code("a.py", line, "save", as_function=True) == named


@pytest.mark.parametrize(
    ("line", "declared"),
    [
        ("    size: int", True),
        ("        self.size = 1", True),
        ("  int size;", True),
        ("  this.size = a", True),
        ("  if a.size == 1", False),
        ("  # size: int", False),
    ],
)
def test_a_type_declares_its_fields(line, declared):
    declaration = find_declaration("a.py", f"class A:\n{line}\n", "size", Owner("A", "a.py", 1, 2))
    assert declaration == (2 if declared else 0)
