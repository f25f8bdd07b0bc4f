"""The lines of implementations: those of their names, not of the annotations above them."""

import asyncio

import pytest

from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import write

FILES = {
    "app/Spy.java": (
        "package app;\n\ninterface Spy {\n  void onEvent();\n}\n\n@Deprecated\nclass Loud implements Spy {\n"
        '  @Override\n  @SuppressWarnings("onEvent")\n  public void onEvent() {}\n}\n\n'
        "class Quiet implements Spy {\n  @Override public void onEvent() {}\n}\n"
    ),
    "src/lib.rs": (
        "pub trait Draw {\n    fn draw(&self);\n}\n\n#[derive(Debug)]\npub struct Dot;\n\n"
        'impl Draw for Dot {\n    #[inline]\n    #[doc = "draw"]\n    fn draw(&self) {}\n}\n\n'
        "#[macro_export]\nmacro_rules! arg_impl {\n    () => {};\n}\n\nfn run() {\n    arg_impl!();\n}\n"
    ),
    "app/shape.py": (
        "from functools import cache\n\n\nclass Shape:\n    def area(self):\n        raise NotImplementedError\n\n\n"
        "class Square(Shape):\n    @cache\n    def area(self):\n        return 1\n"
    ),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("implementations")
    write(root, FILES)
    return serve(root)


def ask(served, symbol, direction="implementations"):
    (block,) = asyncio.run(uses(served.context(), UsesQuestion(symbol, direction)))["sites"]
    return block["of"], [(row["line"], row["text"]) for file in block["files"] for row in file["sites"]]


@pytest.mark.parametrize(
    ("symbol", "lines"),
    [
        (
            "Spy.onEvent",
            [(11, "public void onEvent() {}"), (15, "@Override public void onEvent() {}")],
        ),
        ("Spy", [(8, "class Loud implements Spy {"), (14, "class Quiet implements Spy {")]),
        ("Draw.draw", [(11, "fn draw(&self) {}")]),
        ("Shape.area", [(11, "def area(self):")]),
    ],
)
def test_an_implementation_is_shown_by_the_line_of_its_name(served, symbol, lines):
    assert ask(served, symbol)[1] == lines


@pytest.mark.parametrize("symbol", ["arg_impl", "arg_impl!"])
def test_a_macro_has_its_uses_without_its_mark_too(served, symbol):
    assert ask(served, symbol, "callers") == ("arg_impl!", [(20, "arg_impl!();")])
