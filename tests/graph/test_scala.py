"""Scala's calls of types and of their instances: `apply`, constructors, and types with a function's
name.
"""

from __future__ import annotations

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest


def calls_of(**texts: str) -> set[tuple[int, str]]:
    """Return line → target of the calls in the last file."""
    project = Project(LANGUAGES)
    project.update(
        {
            f"{name}.scala": facts_of(decode(f"{name}.scala", text.encode()), digest(text.encode()))
            for name, text in texts.items()
        }
    )
    last = f"{list(texts)[-1]}.scala"
    edges = edges_of(project, Evaluator(project), last)
    return {(edge.location.line, edge.target.partition(":")[2]) for edge in edges if edge.type == "calls"}


def test_a_call_of_a_type_or_of_an_instance_is_apply_where_there_is_one():
    text = (
        "class Disk(x: Int) {\n  def apply(at: Int): Int = at\n}\nobject Tape {\n  def apply(x: String): Disk = new Disk(1)\n}\n"
        "class Tape\nobject A {\n  def f(d: Disk) = {\n    d(1)\n    Tape(one)\n    Disk(1)\n  }\n}\n"
    )
    assert calls_of(a=text) == {(5, "Disk"), (10, "Disk.apply"), (11, "Tape.apply"), (12, "Disk")}


def test_a_constructor_calls_its_class_and_that_of_its_base():
    text = "class Disk(x: Int) {\n  def this(x: Int, y: Int) = this(x)\n  def apply(x: Int) = x\n}\nclass Tape extends Disk(1)\n"
    assert calls_of(a=text) == {(2, "Disk"), (5, "Disk")}


def test_new_and_patterns_mean_a_type_and_no_function_of_its_name():
    text = (
        "trait Shop {\n  case class Disk(x: Int)\n  def Disk(x: Int, y: Int): Disk = new Disk(x)\n  def f(a: Any) = a match {\n"
        "    case Disk(x) => Disk(x, 1)\n  }\n}\n"
    )
    lines = calls_of(a=text)
    assert {line for line, _ in lines} == {3, 5}
    assert len({target for _, target in lines}) == 2  # the class, and the function of its name


def test_a_file_sees_the_names_of_enclosing_packages():
    base = "package shop\nclass Disk {\n  def save() = 1\n}\n"
    assert (4, "Disk.save") in calls_of(
        a=base, b="package shop\npackage store\nclass A extends Disk {\n  def f() = save()\n}\n"
    )


def test_applying_an_object_gives_the_result_of_its_apply():
    text = (
        "class Disk { def save() = 1 }\ntrait Maker { def apply(size: Int): Disk = new Disk }\nobject Tape extends Maker\n"
        "class Reel\nobject Reel { def apply(x: Int): Disk = new Disk }\n"
        "object A {\n  def f() = Tape(1).save()\n  def g() = Reel(1).save()\n}\n"
    )
    assert calls_of(a=text) >= {(7, "Disk.save"), (7, "Maker.apply"), (8, "Disk.save"), (8, "Reel.apply")}


def test_an_object_is_given_where_its_supertype_is_wanted():
    text = (
        "trait Unit\nobject Meters extends Unit\nclass Length {\n  def to(unit: Unit): Int = 1\n  def to(other: Length): Int = 2\n"
        "  def f() = to(Meters)\n  def g(f: Length => Int) = 1\n  def g(f: Length) = 2\n  def h() = g(to(_))\n}\n"
    )
    assert calls_of(a=text) == {(6, "Length.to"), (9, "Length.g"), (9, "")}  # of two `to` nobody knows


def test_an_unknown_type_chooses_no_overload():
    text = (
        "trait Parsers {\n  type Elem\n  def accept(e: Elem): Int = 1\n  def accept[A](all: A): Int = 2\n"
        "  def f() = accept('a')\n}\n"
    )
    assert calls_of(a=text) == {(5, "")}


def test_a_class_has_the_members_that_its_object_inherits():
    text = (
        "class Star\ntrait Base { def make(): Star = new Star }\nclass Model\nobject Model extends Base\n"
        "object A { def f() = Model.make() }\n"
    )
    assert (5, "Base.make") in calls_of(a=text)


def test_a_call_of_a_name_in_backticks_has_the_target_of_this_name():
    text = "object A {\n  def `give back`(x: Int) = x\n  def `type`(x: Int) = x\n  def f = {\n    `give back`(1)\n    A.`type`(2)\n  }\n}\n"
    assert calls_of(a=text) == {(5, "A.give back"), (6, "A.type")}


def test_a_file_with_operators_as_properties_has_calls():
    text = (
        "class Vec(x: Int) {\n  def * : Vec = this\n  def || : Int = x\n  def size: Int = count(x)\n  def count(n: Int) = n\n"
        "  def f() = size\n}\n"
    )
    assert calls_of(a=text) == {(4, "Vec.count"), (6, "Vec.size")}


def test_a_trait_calls_the_methods_of_the_types_that_it_requires_of_itself():
    shop = """package shop
trait Disks { def spin(): Int = 1 }
trait Tapes { def wind(): Int = 1 }
trait Base { def own(): Int = 1 }
trait Reels { def spin(): Int = 2 }
"""
    run = """package shop
trait Run extends Base {
  self: Disks & Tapes =>
  def go = spin() + wind()
  def stay = own() + self.spin()
}
trait Walk { this: Disks with Tapes =>
  def go = spin() + wind()
}
trait Lie { self: Tapes => def go = spin() }
"""
    assert calls_of(shop=shop, run=run) == {
        (4, "Disks.spin"),
        (4, "Tapes.wind"),
        (5, "Base.own"),
        (5, "Disks.spin"),
        (8, "Disks.spin"),
        (8, "Tapes.wind"),
    }


def test_a_table_of_slick_holds_its_rows_also_behind_a_required_type():
    tables = """package shop
trait LabelComponent { self: Profile =>
  import profile.api._
  lazy val Labels = TableQuery[Labels]
  class Labels(tag: Tag) extends Table[Label](tag, "LABEL") {
    def byLabel(id: Int) = id
  }
}
trait Profile { val profile: Outside }
object Profile extends Profile with LabelComponent
"""
    use = """package shop
trait Use {
  import Profile._
  def go = Labels.filter(_.byLabel(1)).delete
  def stay = Labels.filter(row => row.byLabel(1))
}
"""
    assert calls_of(tables=tables, use=use) == {
        (4, "LabelComponent.Labels.byLabel"),
        (5, "LabelComponent.Labels.byLabel"),
    }
