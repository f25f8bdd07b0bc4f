"""Questions about applications of Rails, Laravel and ASP.NET, as an agent asks them."""

import asyncio

import orjson
import pytest

from cortex.ask.exploring.functions import Function
from cortex.ask.reading.read import Read, read
from cortex.ask.reading.read_outlines import outline_file
from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import ask, write


def read_symbols(served, symbols):
    """Return the entries of a read."""
    answer = asyncio.run(read(served.context(), Read(symbols)))
    return orjson.loads(orjson.dumps(answer))


def uses_of(served, symbol):
    answer = asyncio.run(uses(served.context(), UsesQuestion(symbol)))
    return orjson.loads(orjson.dumps(answer))


def places(answer):
    """Return the places of all uses of an answer."""
    return [
        f"{file['file']}:{site['line']}"
        for block in answer["sites"]
        for file in block["files"]
        for site in file["sites"]
    ]


STONES = {
    "a/stone.rb": "class Stone\n  def roll\n    1\n  end\n\n  def self./(other)\n    other\n  end\nend\n",
    "b/m1.rb": "class Create1\n  class Stone\n  end\n\n  def up\n    Stone.new\n  end\nend\n",
    "b/m2.rb": "class Create2\n  class Stone\n  end\nend\n",
    "c/run.rb": "def run\n  ::Stone.new.roll\nend\n",
    "c/twin1.rb": "module One\n  class Twin\n  end\nend\n",
    "c/twin2.rb": "module Two\n  class Twin\n  end\nend\n",
}


@pytest.fixture(scope="module")
def stones(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("stones")
    write(root, STONES)
    return serve(root)


def test_a_bare_name_is_the_class_outside_of_all_others(stones):
    (entry,) = read_symbols(stones, ["Stone"])["code"]
    assert (entry["file"], entry["start"]) == ("a/stone.rb", 1)
    answer = uses_of(stones, "Stone")
    assert [block["at"] for block in answer["sites"]] == ["a/stone.rb:1"]
    assert places(answer) == ["c/run.rb:2"]
    assert answer["notes"] == ["Also called 'Stone': Create1.Stone, Create2.Stone."]


@pytest.mark.parametrize(
    ("symbol", "at"),
    [
        ("Create1::Stone", ["b/m1.rb:2"]),
        ("Twin", ["c/twin1.rb:2", "c/twin2.rb:2"]),
        ("Stone./", ["a/stone.rb:6"]),
    ],
)
def test_other_names_mean_what_they_meant(stones, symbol, at):
    assert [block["at"] for block in uses_of(stones, symbol)["sites"]] == at


SHOP = {
    "Gemfile": "source x\n\ngem 'rails'\ngem 'tags'\n",
    "app/gems.rb": "def gemfile\n  'Gemfile'\nend\n",
    "config/routes.rb": "Rails.application.routes.draw do\n"
    + "".join(f'  get "/p{n}" => "pages#p{n}"\n' for n in range(60))
    + '\n  get "/tags" => "tags#index"\n  get "/s/:id/(:title)" => "stories#show"\nend\n',
    "app/controllers/tags_controller.rb": "class TagsController < ApplicationController\n  def index\n    @tags = Tag.all\n"
    '    render partial: "tags/list"\n  end\n\n  def list_of\n    render "list"\n  end\nend\n',
    "app/controllers/hats_controller.rb": "class HatsController < ApplicationController\n  def index\n    @hats = Hat.all\n"
    "    render :old if old?\n  end\n\n  def show\n    render plain: 'x'\n  end\n\n  def indexed\n  end\nend\n",
    "app/views/hats/index.html.erb": "<h1>Hats</h1>\n",
    "app/views/hats/show.html.erb": "<h1>Hat</h1>\n",
    "app/views/hats/_hat.html.erb": "<h1>Hat</h1>\n",
    "app/controllers/stories_controller.rb": "class StoriesController < ApplicationController\n  def show\n    index = 1\n"
    "    other.index(index)\n  end\nend\n",
    "app/models/tag.rb": "class Tag < ApplicationRecord\n  scope :active, -> {\n    where(active: true)\n  }\n  has_many :stories\nend\n",
    "app/run.rb": "def run\n  Tag.active.first\nend\n",
    "app/views/tags/_list.html.erb": "<ul class=list>\n<% @tags.each do |tag| %>\n<li><%= tag %></li>\n<% end %>\n</ul>\n",
    "app/views/tags/index.html.erb": "<h1>All</h1>\n<%= render 'list' %>\n",
    "app/views/stories/show.html.erb": "<h1>Story</h1>\n<%= render partial: 'tags/list' %>\n<p>'list'</p>\n",
    "resources/views/pages/parts/list-item.blade.php": "<a href=x>{{ $page->name }}</a>\n",
    "resources/views/pages/show.blade.php": "@include('pages.parts.list-item', ['page' => $page])\n<p>breadcrumbs</p>\n",
    "app/Http/PageController.php": "<?php\nclass PageController {\n  public function show() {\n    return view('pages.show');\n  }\n}\n",
    "lang/en/entities.php": "<?php\nreturn [\n\n    // Shared\n"
    + "".join(f"    'key{n}' => 'Value {n}',\n" for n in range(90))
    + "\n    // Pages\n    'pages_delete' => 'Are you sure you want to delete this page?',\n"
    + "".join(f"    'other{n}' => 'Value {n}',\n" for n in range(30))
    + "];\n",
    **{
        f"lang/x{n}/entities.php": "<?php\nreturn [\n    'pages_delete' => 'Are you sure you want to delete this page?',\n];\n"
        for n in range(20)
    },
    "Shop/Store.cs": "namespace Shop;\npublic partial class Store\n{\n    public void Save() {}\n}\n",
    "Shop/Store.Async.cs": "namespace Shop;\npublic partial class Store\n{\n    public void SaveAsync() {}\n}\n",
    "Other/Store2.cs": "namespace Other;\npublic class Store2\n{\n    public void Save() {}\n}\n",
    "Shop/Add.cs": "namespace Shop;\npublic partial class Add\n{\n    protected void Up() {}\n}\n",
    "Shop/Add.Designer.cs": "namespace Shop;\npartial class Add\n{\n    protected void Build() {}\n}\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("applications")
    write(root, SHOP)
    return serve(root)


@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("config/routes.rb", "config/routes.rb"),
        ("Gemfile", "Gemfile"),
        ("routes.rb", "config/routes.rb"),
        ("app/views/tags/_list.html.erb", "app/views/tags/_list.html.erb"),
        ("`pages/parts/list-item.blade.php`", "resources/views/pages/parts/list-item.blade.php"),
        ("app/models/tag.rb", "app/models/tag.rb"),
        ("/srv/shop/app/models/tag.rb", "app/models/tag.rb"),
        ("template with the list of tags", "app/views/tags/_list.html.erb"),
        ("blade partial of a list item", "resources/views/pages/parts/list-item.blade.php"),
    ],
)
def test_a_file_is_found_by_its_path_and_a_template_by_words(shop, query, file):
    assert ask(shop, query)["map"][0]["file"] == file


@pytest.mark.parametrize(
    "query", ["list of tags", "models/other.rb", "Tag.active", "where is TemplateList made"]
)
def test_other_questions_are_about_code(shop, query):
    assert not any(entry["file"].endswith((".erb", ".blade.php")) for entry in ask(shop, query)["map"][:1])


def test_a_text_in_many_translations_is_that_of_the_english_one(shop):
    answer = ask(shop, "Are you sure you want to delete this page?")
    assert answer["map"][0]["file"] == "lang/en/entities.php"
    assert [file["file"] for file in answer["sites"][0]["files"]] == ["lang/en/entities.php"]


def test_a_scope_and_an_association_are_read_and_used(shop):
    scope, association = read_symbols(shop, ["Tag.active", "Tag.stories"])["code"]
    assert (scope["file"], scope["start"], scope["end"]) == ("app/models/tag.rb", 2, 4)
    assert (association["start"], association["end"]) == (5, 5)
    assert places(uses_of(shop, "Tag.active")) == ["app/run.rb:2"]


@pytest.mark.parametrize(
    ("symbol", "used"),
    [
        (
            "app/views/tags/_list.html.erb",
            [
                "app/controllers/tags_controller.rb:4",
                "app/controllers/tags_controller.rb:8",
                "app/views/stories/show.html.erb:2",
                "app/views/tags/index.html.erb:2",
            ],
        ),
        ("tags/list", 4),
        ("hats/index", ["app/controllers/hats_controller.rb:2"]),
        ("app/views/stories/show.html.erb", ["app/controllers/stories_controller.rb:2"]),
        ("app/views/hats/show.html.erb", []),
        ("pages.parts.list-item", ["resources/views/pages/show.blade.php:1"]),
        ("resources/views/pages/show.blade.php", ["app/Http/PageController.php:4"]),
    ],
)
def test_a_template_is_used_where_its_name_stands(shop, symbol, used):
    lines = places(uses_of(shop, symbol))
    assert lines == used if isinstance(used, list) else len(lines) == used


def test_an_action_with_a_route_has_the_number_of_other_lines_alone(shop):
    answer = uses_of(shop, "TagsController.index")
    assert places(answer) == ["config/routes.rb:63"]
    assert answer["elsewhere"]["total"] > 0
    assert answer["elsewhere"]["files"] == []


def test_a_route_is_found_without_its_optional_segment(shop):
    assert [block["of"] for block in uses_of(shop, "GET /s/:id")["sites"]] == ["StoriesController.show"]


def test_a_partial_type_names_its_other_parts_and_a_generated_part_comes_last(shop):
    answer = read_symbols(shop, ["Store"])
    assert [entry["file"] for entry in answer["code"]] == ["Shop/Store.Async.cs"]
    assert answer["notes"] == ["Other parts of Store: Shop/Store.cs:2."]
    assert "notes" not in read_symbols(shop, ["Store2"])
    assert [entry["file"] for entry in read_symbols(shop, ["Add"])["code"]] == ["Shop/Add.cs"]


def test_a_long_file_without_definitions_is_the_outline_of_its_inner_lines(shop):
    (entry,) = read_symbols(shop, ["lang/en/entities.php"])["code"]
    assert [row["text"].strip() for row in entry["outline"]] == [
        "return [",
        "'key0' => 'Value 0',",
        "'pages_delete' => 'Are you sure you want to delete this page?',",
    ]
    (entry,) = read_symbols(shop, ["config/routes.rb"])["code"]
    assert len(entry["outline"]) == 63


def test_short_methods_of_ruby_share_a_line_of_an_outline():
    spans = [("Tag", 1, 30), ("Tag.a", 2, 2), ("Tag.a=", 2, 2), ("Tag.b", 3, 3), ("Tag.long", 4, 9)]
    spans += [("Tag.c", 10, 10), ("Tag.d", 12, 12)]

    def outline(file):
        definitions = [
            Function(f"x:{name}", file, start, end, "class" if name == "Tag" else "method")
            for name, start, end in spans
        ]
        return [(row["start"], row["end"], row["text"].strip()) for row in outline_file(definitions, 4_000)]

    assert outline("tag.rb") == [
        (1, 30, "class Tag"),
        (2, 3, "a, b"),
        (4, 9, "long"),
        (10, 10, "c"),
        (12, 12, "d"),
    ]
    assert len(outline("tag.py")) == len(spans)
