"""Uses of what a line declares and the graph lacks, and of names without resolved references."""

import asyncio

import pytest

from cortex.ask.lines.code_words import words_in_code
from cortex.ask.lines.declared_names import find_declared_name
from cortex.ask.lines.receivers import Owner
from cortex.ask.reading.read import Read, read
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.front.text import render
from tests.ask.searched import write

FILES = {
    "app/src/about/AboutModel.kt": (
        'package app.about\n\nprivate const val KEY_STATE = "state"\n\n'
        'data class AboutState(\n    val version: String,\n    @Json(name = "s") val size: Int,\n)\n\n'
        'enum class Language(val code: String) {\n    HEBREW("he"),\n    SWEDISH("sv"),\n}\n\n'
        "class AboutModel(handle: Handle) {\n    fun load(): String {\n        handle[KEY_STATE]\n"
        '        return AboutState(version = "1", size = 2).version\n    }\n}\n'
    ),
    "app/src/home/HomeModel.kt": (
        'package app.home\n\nprivate const val KEY_STATE = "state"\n\n'
        "class HomeModel(handle: Handle, homePage: String) {\n    val first = handle[KEY_STATE]\n"
        "    val language = Language.HEBREW\n    val page = homePage\n}\n"
    ),
    "app/src/events/Events.kt": (
        "package app.events\n\ninterface Events {\n    fun track(name: String)\n}\n\n"
        "class EventsImpl : Events {\n    override fun track(name: String) {}\n}\n\n"
        'class Shop(private val events: Events) {\n    fun sell() {\n        events.track("sold")\n    }\n}\n'
    ),
    "app/src/homepage/Other.kt": "package app.homepage\n\nclass Other\n",
    "ios/Sources/Names.swift": (
        'import Foundation\n\nextension Notification.Name {\n  static let refresh = Notification.Name("r")\n}\n\n'
        "enum Start {\n  case display\n  case link(url: String)\n}\n"
    ),
    "ios/Sources/View.swift": (
        "struct Panel {\n  @State private var start: Start = .display\n  func open() {\n    post(.refresh)\n"
        '    start = .link(url: "x")\n  }\n}\n'
    ),
    "ios/Filters/Edit.swift": "struct EditView {\n  func run() {}\n}\n",
    "ios/Filters/List.swift": "struct FilterList {\n  func show() {}\n}\n",
    "ios/Use.swift": "struct Use {\n  var filters: [String] = []\n  func go() { FilterList().show() }\n}\n",
    "res/values/strings.xml": '<resources>\n  <string name="about_title">About</string>\n  <string name="shared">Shared</string>\n</resources>\n',
    **{
        f"res/values-{language}/strings.xml": f'<resources>\n  <string name="shared">{language}</string>\n</resources>\n'
        for language in ("af", "de", "fr", "it", "nl", "pl", "pt")
    },
    "app/src/about/Screen.kt": ("package app.about\n\nfun screen() {\n    title(R.string.about_title)\n}\n"),
    "lib/shop/order.ex": (
        "defmodule Shop.Order do\n  @limit 5\n  defstruct [:id]\n\n  def valid?(order), do: order.id < @limit\n"
        "  defp border?(_), do: true\nend\n"
    ),
    "lib/other/order.ex": "defmodule Other.Order do\n  def valid?(order), do: order\nend\n",
    "lib/shop/cart.ex": (
        "defmodule Shop.Cart do\n  alias Shop.Order\n\n  def check(order) do\n    Order.valid?(order)\n  end\n\n"
        '  def render(assigns) do\n    ~H"""\n    <.icon_button kind="border">\n      {Order.valid?(@order)}\n'
        '    </.icon_button>\n    """\n  end\nend\n'
    ),
    "lib/other/cart.ex": (
        "defmodule Other.Cart do\n  alias Other.Order\n\n  def check(order), do: Order.valid?(order)\nend\n"
    ),
    "lib/web/components.ex": "defmodule Web.Components do\n  def icon_button(assigns), do: assigns\nend\n",
    "assets/app.css": ".a {\n  border: 1px;\n}\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("declared")
    write(root, FILES)
    return serve(root)


def ask(served, symbol):
    return asyncio.run(uses(served.context(), UsesQuestion(symbol)))


def sites(answer):
    return {
        f"{file['file']}:{site['line']}"
        for block in answer["sites"]
        for file in block["files"]
        for site in file["sites"]
    }


ABOUT_MODEL, HOME_MODEL, NAMES = (
    "app/src/about/AboutModel.kt",
    "app/src/home/HomeModel.kt",
    "ios/Sources/Names.swift",
)


@pytest.mark.parametrize(
    ("place", "of", "expected"),
    [
        (f"{ABOUT_MODEL}:3", "KEY_STATE", {f"{ABOUT_MODEL}:17"}),
        (f"{HOME_MODEL}:3", "KEY_STATE", {f"{HOME_MODEL}:6"}),
        (f"{ABOUT_MODEL}:6", "AboutState.version", {f"{ABOUT_MODEL}:18"}),
        (f"{ABOUT_MODEL}:7", "AboutState.size", {f"{ABOUT_MODEL}:18"}),
        (f"{ABOUT_MODEL}:11", "Language.HEBREW", {f"{HOME_MODEL}:7"}),
        (f"{NAMES}:4", "refresh", {"ios/Sources/View.swift:4"}),
        (f"{NAMES}:8", "Start.display", {"ios/Sources/View.swift:2"}),
        (f"{NAMES}:9", "Start.link", {"ios/Sources/View.swift:5"}),
        ("ios/Sources/View.swift:2", "Panel.start", {"ios/Sources/View.swift:5"}),
        ("lib/shop/order.ex:2", "Shop.Order.limit", {"lib/shop/order.ex:5"}),
        ("res/values/strings.xml:2", "about_title", {"app/src/about/Screen.kt:4"}),
    ],
)
def test_a_line_means_the_member_or_constant_that_it_declares(served, place, of, expected):
    answer = ask(served, place)
    assert sites(answer) == expected
    assert render("cortex_uses", answer).startswith(f"lines with {of}, {place}: {len(expected)}")


@pytest.mark.parametrize(
    ("place", "of"),
    [
        (f"{ABOUT_MODEL}:5", "AboutState"),
        (f"{ABOUT_MODEL}:8", "AboutState"),  # `)`
        (f"{ABOUT_MODEL}:17", "AboutModel.load"),
        ("lib/shop/order.ex:1", "Shop.Order"),
        ("app/src/homepage/Other.kt:3", "Other"),
    ],
)
def test_a_line_without_a_declaration_of_its_own_means_the_definition_around_it(served, place, of):
    assert ask(served, place)["sites"][0]["of"] == of


@pytest.mark.parametrize(
    ("symbol", "place"),
    [
        ("AboutState.size", f"{ABOUT_MODEL}:7"),
        ("Language.HEBREW", f"{ABOUT_MODEL}:11"),
        ("Start.display", f"{NAMES}:8"),
    ],
)
def test_a_member_is_read_at_its_line(served, symbol, place):
    answer = asyncio.run(read(served.context(), Read((symbol,))))
    assert render("cortex_read", answer).startswith(f"{place}  {symbol}")


def test_a_resource_in_many_translations_is_one_line_that_of_the_default(served):
    answer = ask(served, "shared")
    assert sites(answer) == {"res/values/strings.xml:3"}
    assert "in 7 files like it: res/{values-af," in render("cortex_uses", answer)


def test_the_uses_of_an_interface_are_shown_once(served):
    text = render("cortex_uses", ask(served, "track"))
    assert text.count('events.track("sold")') == 1
    assert "EventsImpl.track, app/src/events/Events.kt:8: 1, as of Events.track\n" in text


def test_the_ending_of_a_path_is_no_name(served):
    answer = ask(served, "app/src/homepage/Other.kt:2")
    assert "kt" not in {block["of"] for block in answer["sites"]}
    assert not answer.get("elsewhere")


@pytest.mark.parametrize(("word", "line"), [("filters", "ios/Use.swift:2"), ("homePage", f"{HOME_MODEL}:8")])
def test_a_word_is_no_folder_of_another_spelling(served, word, line):
    answer = ask(served, word)
    assert line in sites(answer)
    assert answer["sites"][0]["of"] == word


def test_a_folder_is_used_where_any_of_its_files_is(served):
    answer = ask(served, "ios/Filters")
    assert (answer["sites"][0]["of"], sites(answer)) == ("ios/Filters", {"ios/Use.swift:3"})


def test_a_module_of_elixir_is_used_by_its_whole_name_and_by_an_alias(served):
    assert sites(ask(served, "Shop.Order")) == {f"lib/shop/cart.ex:{line}" for line in (2, 5, 11)}
    assert sites(ask(served, "Other.Order")) == {"lib/other/cart.ex:2", "lib/other/cart.ex:4"}


def test_a_template_in_a_string_of_elixir_calls_components_and_functions(served):
    assert sites(ask(served, "icon_button")) == {"lib/shop/cart.ex:10"}
    assert "lib/shop/cart.ex:11" in sites(ask(served, "lib/shop/order.ex:5"))
    text = FILES["lib/shop/cart.ex"]
    assert not list(words_in_code("lib/shop/cart.ex", text, "border"))


def test_a_question_mark_is_a_part_of_a_name(served):
    answer = ask(served, "border?")
    assert not sites(answer)
    assert not answer["elsewhere"]["total"]


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("A.java", "  private static final Map<String, List<Integer>> MAX = of();", "MAX"),
        ("a.go", '\tName string `json:"x"`', "Name"),
        ("a.ts", "  readonly name?: string;", "name"),
        ("a.cs", '  [JsonProperty("x")] public int Size { get; set; }', "Size"),
        ("a.swift", "  private(set) var count: Int", "count"),
        ("a.scala", "  lazy val Accounts = TableQuery[Accounts]", "Accounts"),
        ("a.cpp", "  std::string name_;", "name_"),
        ("a.rs", "    pub name: String,", "name"),
        ("a.kt", ") : Base(x) {", ""),
        ("a.kt", "    companion object {", ""),
        ("a.ts", "  return x;", ""),
        ("a.java", "  }", ""),
        ("a.java", "  /* int size; */", ""),
    ],
)
def test_the_name_of_a_declaration_is_told_from_its_types_and_marks(path, line, expected):
    assert find_declared_name(path, f"class X {{\n{line}", 2, Owner("X", path, 1, 9)) == expected


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("a.rb", "  has_many :stories, dependent: :destroy", "stories"),
        ("a.ex", "  @spec valid?(t) :: boolean", "valid?"),
        ("a.py", "limit: int = 3", "limit"),
        ("a.py", "main()", ""),
        ("a.py", "if ready:", ""),
        ("a.yaml", "  timeout: 3", "timeout"),
        ("a.js", "foo.bar();", ""),
    ],
)
def test_a_line_outside_of_types_declares_a_name(path, line, expected):
    assert find_declared_name(path, line, 1) == expected
