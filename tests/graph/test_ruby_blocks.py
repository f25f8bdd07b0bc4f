"""What is `self` in Ruby's blocks, by the methods that get them."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, facts_in, project_of

_MENU = """class Entry
  def self.create(name, &block)
    new(name, &block)
  end
  def initialize(name, &block)
    instance_eval(&block) if block
  end
  def title(text)
  end
end
class Link < Entry
  def target(path)
  end
end
module Menu
  def entry(name, **options, &block)
    entries << Entry.create(name, **options, &block)
  end
  def link(name, &block)
    entries << Link.create(name, &block)
  end
  def within(&block)
    entry(:inner, &block)
  end
  def quietly
    yield
  end
end
"""
CASES = {
    "a block passed on to a constructor that evaluates it": (
        "class Page\n  extend Menu\n  entry :home do\n    title 'Home'\n  end\nend\n",
        {3: "lib:Menu.entry", 4: "lib:Entry.title"},
    ),
    "the heir that a class method makes": (
        "class Page\n  extend Menu\n  link :home do\n    title 'Home'\n    target '/'\n  end\nend\n",
        {3: "lib:Menu.link", 4: "lib:Entry.title", 5: "lib:Link.target"},
    ),
    "a base has no methods of its heirs": (
        "class Page\n  extend Menu\n  entry :home do\n    target '/'\n  end\nend\n",
        {3: "lib:Menu.entry"},
    ),
    "a method that passes its block to one of its own module": (
        "class Page\n  extend Menu\n  within do\n    title 'Home'\n  end\nend\n",
        {3: "lib:Menu.within", 4: "lib:Entry.title"},
    ),
    "methods of the class around, before, in and behind a block": (
        (
            "class Page\n  extend Menu\n  def self.title(text)\n  end\n  title 'a'\n"
            "  entry :home do\n    title 'b'\n  end\n  title 'c'\nend\n"
        ),
        {5: "a:Page.title", 6: "lib:Menu.entry", 7: "lib:Entry.title", 9: "a:Page.title"},
    ),
    "a block that is only called keeps the object around it": (
        (
            "class Page\n  extend Menu\n  def self.title(text)\n  end\n"
            "  quietly do\n    title 'a'\n  end\n  [1].each do\n    title 'b'\n  end\nend\n"
        ),
        {5: "lib:Menu.quietly", 6: "a:Page.title", 9: "a:Page.title"},
    ),
    "a loop in an evaluated block": (
        "class Page\n  extend Menu\n  entry :home do\n    [1].each do\n      title 'a'\n    end\n  end\nend\n",
        {3: "lib:Menu.entry", 5: "lib:Entry.title"},
    ),
    "a local variable of the method's name": (
        "class Page\n  extend Menu\n  entry :home do\n    title = 1\n    title\n  end\nend\n",
        {3: "lib:Menu.entry"},
    ),
    "a method that a block defines has its own self": (
        (
            "class Page\n  extend Menu\n  def title(text)\n  end\n  entry :home do\n  end\n"
            "  def show\n    title 'a'\n  end\nend\n"
        ),
        {5: "lib:Menu.entry", 8: "a:Page.title"},
    ),
    "the only method of a name that evaluates its block, on an unknown object": (
        (
            "describe 'x' do\n  it 'y' do\n    make do\n      entry :home do\n        title 'a'\n      end\n"
            "    end\n  end\nend\n"
        ),
        {4: "lib:Menu.entry", 5: "lib:Entry.title"},
    ),
    "two methods of that name tell nothing": (
        (
            "class Form\n  def entry(&block)\n    Field.new.instance_eval(&block)\n  end\nend\n"
            "class Field\n  def title(text)\n  end\nend\n"
            "describe 'x' do\n  it 'y' do\n    make do\n      entry :home do\n        title 'a'\n      end\n"
            "    end\n  end\nend\n"
        ),
        {3: "a:Field", 13: "lib:Menu.entry"},  # by a rule about modules
    ),
    "a class that a method evaluates or opens": (
        (
            "class Page\n  def self.title(text)\n  end\n  def title(text)\n  end\n"
            "  def self.open(&block)\n    class_eval(&block)\n  end\n"
            "  def self.inherit(&block)\n    Class.new(Page, &block)\n  end\nend\n"
            "Page.open do\n  title 'a'\nend\nPage.inherit do\n  title 'b'\nend\n"
        ),
        {13: "a:Page.open", 14: "a:Page.title", 16: "a:Page.inherit", 17: "a:Page.title"},
    ),
    "a method that a block's own object, an heir, or an outer block's object has": (
        (
            "module Menu\n  def page(&block)\n    run(&block)\n  end\n  def run(&block)\n    instance_eval(&block)\n  end\n"
            "  def title(text)\n  end\nend\nclass Page\n  extend Menu\n  include Menu\n  def self.title(text)\n  end\n  def title(text)\n  end\n"
            "  page do\n    title 'a'\n  end\n  def show\n    page do\n      title 'b'\n    end\n    Book.new do\n      page do\n"
            "        title 'c'\n      end\n    end\n  end\nend\n"
            "class Book\n  def initialize(&block)\n    instance_eval(&block)\n  end\n"
            "  def page(&block)\n    Leaf.new.instance_eval(&block)\n  end\nend\nclass Leaf\n  def title(text)\n  end\nend\n"
        ),
        {
            3: "a:Menu.run",
            18: "a:Menu.page",
            19: "a:Page.title",
            22: "a:Menu.page",
            23: "a:Page.title~2",
            25: "a:Book",
            26: "a:Book.page",
            27: "a:Leaf.title",
            37: "a:Leaf",
        },
    ),
    "a method that only calls the block, though another of its name evaluates it": (
        (
            "class Form\n  def fill(&block)\n    wrap(&block)\n  end\n  def wrap(&block)\n    block.call\n  end\nend\n"
            "class Field\n  def wrap(&block)\n    instance_eval(&block)\n  end\n  def title(text)\n  end\nend\n"
            "class Page < Form\n  def title(text)\n  end\n  def show\n    fill do\n      title 'a'\n    end\n  end\nend\n"
        ),
        {3: "a:Form.wrap", 20: "a:Form.fill", 21: "a:Page.title"},
    ),
    "methods that pass their block to each other": (
        (
            "class Page\n  def self.one(&block)\n    two(&block)\n  end\n  def self.two(&block)\n    one(&block)\n  end\n"
            "  def self.title(text)\n  end\n  one do\n    title 'a'\n  end\nend\n"
        ),
        {3: "a:Page.two", 6: "a:Page.one", 10: "a:Page.one", 11: "a:Page.title"},
    ),
}


def _targets(project, path="a.rb"):
    return {edge.location.line: edge.target for edge in calls_in(project, path) if edge.target}


@pytest.mark.parametrize("case", CASES)
def test_bare_names_in_a_block_are_methods_of_what_runs_it(case):
    text, targets = CASES[case]
    assert _targets(project_of({"lib.rb": _MENU, "a.rb": text})) == targets


def test_a_change_of_what_runs_a_block_reaches_the_files_with_such_blocks():
    page = "class Page\n  extend Menu\n  def self.title(text)\n  end\n  entry :home do\n    title 'a'\n  end\nend\n"
    entry, word, menu = _MENU.partition("module")
    project = project_of({"entry.rb": entry, "menu.rb": word + menu, "a.rb": page})
    assert _targets(project)[6] == "entry:Entry.title"
    yields = entry.replace("instance_eval(&block) if block", "yield")
    affected = project.update({"entry.rb": facts_in("entry.rb", yields)})
    assert "a.rb" in affected
    assert _targets(project)[6] == "a:Page.title"


def test_an_alias_of_another_file_and_the_method_of_its_name_are_both_called():
    lib = "class Log\n  def put(text)\n  end\n  def name\n  end\nend\n"
    more = "class Log\n  def put_twice(text)\n  end\n  alias_method :put, :put_twice\nend\n"
    text = "class User\n  def run\n    log = Log.new\n    log.put 1\n    log.name\n  end\nend\n"
    edges = calls_in(project_of({"lib.rb": lib, "more.rb": more, "a.rb": text}), "a.rb")
    targets = {(edge.location.line, edge.target) for edge in edges}
    assert targets == {
        (3, "lib:Log"),
        (4, "lib:Log.put"),
        (4, "more:Log.put_twice"),
        (5, "lib:Log.name"),
    }
