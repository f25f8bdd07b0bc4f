"""The rule that divides a file into units."""

import orjson
import pytest

from cortex.terms.units import find_units


def entry(name, kind, start, end, scope="", **more):
    return {"name": name, "kind": kind, "scope": scope, "start_line": start, "end_line": end} | more


def chunk(text, *definitions, first=1, language="python", **fields):
    lines = {"start_line": first, "end_line": first + text.count("\n")}
    metadata = {"file_path": "a.py", "language": language, "definitions": list(definitions)} | lines
    return {"chunk_type": "code", "text": text} | fields | {"metadata": metadata | fields.get("metadata", {})}


def brief(units):
    return [(unit.symbol, unit.start, unit.end, unit.head) for unit in units]


def lines_of(units):
    return [number for unit in units for a, b in unit.ranges for number in range(a, b + 1)]


def test_a_definition_has_the_comments_right_above_it():
    text = "import os\n\n# Not about it.\n\n# Reads\n# a file.\n@cached\ndef read(path):\n    return path\n\nread('a')"
    units = find_units([chunk(text, entry("read", "function", 8, 9))])
    assert brief(units) == [("", 1, 11, 1), ("read", 5, 9, 8)]
    assert units[0].ranges == ((1, 3), (11, 11))
    assert units[1].signature == "def read(path):"
    assert units[1].text.startswith("# Reads")


@pytest.mark.parametrize(
    ("above", "first"),
    [
        ("/* Plain\n   text. */", 3),
        ("#[derive(\n    Debug,\n)]", 3),
        ("/// Doc.\n#[test]", 3),
        ("#define SIZE 3", 4),
        ("call(\n    x,\n)", 6),
    ],
)
def test_comments_and_attributes_of_several_lines_belong_to_the_definition_below(above, first):
    head = 3 + above.count("\n") + 1
    text = f"use a;\n\n{above}\nfn read() {{\n}}"
    units = find_units([chunk(text, entry("read", "function", head, head + 1), language="rust")])
    assert brief(units)[-1] == ("read", first, head + 1, head)


def test_a_class_is_a_unit_without_its_functions():
    text = "class Store:\n    size = 1\n\n    def save(self):\n        pass\n\n    name = 2\n\n    def load(self):\n        pass"
    units = find_units(
        [
            chunk(
                text,
                entry("Store", "class", 1, 10),
                entry("size", "variable", 2, 2, "Store"),
                entry("save", "method", 4, 5, "Store"),
                entry("load", "method", 9, 10, "Store"),
            )
        ]
    )
    assert brief(units) == [("Store", 1, 10, 1), ("Store.save", 4, 5, 4), ("Store.load", 9, 10, 9)]
    assert units[0].ranges == ((1, 2), (7, 7))
    assert units[0].text == "class Store:\n    size = 1\n    name = 2"
    assert units[1].owner == "Store"


@pytest.mark.parametrize(("lines", "inner", "count"), [(61, 5, 2), (60, 5, 1), (61, 4, 1)])
def test_a_nested_function_is_a_unit_only_in_a_long_one(lines, inner, count):
    text = "\n".join(["def outer():", *(f"    x{at} = 1" for at in range(lines - 1))])
    definitions = [entry("outer", "function", 1, lines), entry("inner", "function", 10, 9 + inner, "outer")]
    units = find_units([chunk(text, *definitions)])
    assert len(units) == count
    assert sorted(lines_of(units)) == list(range(1, lines + 1))
    assert units[0].end == lines


def test_a_class_in_a_function_of_a_few_lines_belongs_to_it():
    text = "def make():\n    class Local:\n        def run(self):\n            pass\n    return Local"
    definitions = [
        entry("make", "function", 1, 5),
        entry("Local", "class", 2, 4, "make"),
        entry("run", "method", 3, 4, "make.Local"),
    ]
    assert brief(find_units([chunk(text, *definitions)])) == [("make", 1, 5, 1)]


def test_short_data_and_functions_without_a_body_belong_to_the_lines_around_them():
    text = "const A = 1;\ninterface Shape {\n  area(): number;\n  name(\n    of: string,\n  ): string;\n}\nfunction f(a: string): void;\nconst B = 2;"
    definitions = [
        entry("A", "constant", 1, 1),
        entry("Shape", "interface", 2, 7),
        entry("area", "method", 3, 3, "Shape"),
        entry("name", "method", 4, 6, "Shape"),
        entry("f", "function", 8, 8),
        entry("B", "constant", 9, 9),
    ]
    units = find_units([chunk(text, *definitions, language="typescript")])
    assert brief(units) == [("", 1, 9, 1), ("Shape", 2, 7, 2)]
    assert units[0].names == ("A", "f", "B")


@pytest.mark.parametrize("body", ["int size() { return 1; }", "def size = 1", "size = () => 1;"])
def test_a_function_of_one_line_with_a_body_is_a_unit(body):
    text = f"class Store {{\n  {body}\n}}"
    definitions = [entry("Store", "class", 1, 3), entry("size", "method", 2, 2, "Store")]
    assert [unit.symbol for unit in find_units([chunk(text, *definitions)])] == ["Store", "Store.size"]


def test_long_data_is_a_unit():
    text = "\n".join(f"line {at}" for at in range(40))
    units = find_units([chunk(text, entry("TABLE", "constant", 1, 30), entry("X", "constant", 32, 33))])
    assert brief(units) == [("TABLE", 1, 30, 1), ("", 31, 40, 31)]


def test_configuration_is_a_unit_for_each_chunk():
    first = chunk("jobs:\n  a: 1\n" * 20, entry("jobs", "constant", 1, 40), language="yaml")
    units = find_units([first, chunk("  b: 2", first=42, language="yaml")])
    assert brief(units) == [("", 1, 40, 1), ("", 42, 42, 42)]
    assert units[0].names == ("jobs",)


def test_lines_without_a_definition_are_a_unit_for_each_chunk():
    chunks = [chunk("a()\n\n"), chunk("b()\ndef f():\n    pass\nc()", entry("f", "function", 5, 6), first=4)]
    assert brief(find_units(chunks)) == [("", 1, 1, 1), ("", 4, 7, 4), ("f", 5, 6, 5)]


def test_a_definition_over_several_chunks_is_one_unit():
    chunks = [chunk("def f():\n    a()", entry("f", "function", 1, 4)), chunk("    b()\n    c()", first=3)]
    (unit,) = find_units(chunks)
    assert (unit.symbol, unit.ranges) == ("f", ((1, 4),))
    assert unit.text == "def f():\n    a()\n    b()\n    c()"


def test_a_section_of_a_document_is_a_unit_with_its_heading():
    documents = [
        {"chunk_type": "documentation", "text": text, "metadata": {"start_line": first, "headings": trail}}
        for text, first, trail in [("# A\n\nText.\n", 1, ["A"]), ("## B\n\nMore.", 5, ["A", "B"])]
    ]
    units = find_units(documents)
    assert brief(units) == [("A", 1, 3, 1), ("B", 5, 7, 5)]
    assert {unit.kind for unit in units} == {"section"}


def test_chunks_of_other_programs_are_units_whatever_they_lack():
    chunks = [
        {"text": "plain", "metadata": None},
        {"text": "", "metadata": {}},
        {"text": "more\ntext", "metadata": {"start_line": "7", "definitions": ["x"]}},
    ]
    assert [(unit.start, unit.end, unit.text) for unit in find_units(chunks)] == [
        (1, 1, "plain"),
        (1, 2, "more\ntext"),
    ]


def test_of_overlapping_chunks_and_definitions_each_line_is_in_one_unit():
    chunks = [
        chunk("def f():\n    a\n    b\n    c", entry("f", "function", 1, 4), entry("g", "function", 3, 99)),
        chunk("    b\n    c\nd", entry("f", "function", 1, 4), first=3),
    ]
    units = find_units(chunks)
    numbers = lines_of(units)
    assert sorted(numbers) == sorted(set(numbers)) == [1, 2, 3, 4, 5]
    assert find_units([]) == []


def test_the_json_of_a_unit_has_no_empty_fields():
    (unit,) = find_units(
        [chunk("def f(a,\n      b):\n    pass", entry("f", "function", 1, 3, blocks=[[3, 3, 1]]))]
    )
    assert orjson.loads(unit.to_json("a.py")) == {
        "path": "a.py",
        "start": 1,
        "end": 3,
        "head": 1,
        "symbol": "f",
        "kind": "function",
        "signature": "def f(a, b):",
        "ranges": [[1, 3]],
        "blocks": [[3, 3, 1]],
    }
