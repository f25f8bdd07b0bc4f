"""Members, parameters and variables that are named like a type do not hide it where a type is
written.
"""

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.small_graphs import calls_in, project_of

INK = {
    "go": ("a/ink.go", "package a\n\ntype Ink struct{}\n\nfunc (i *Ink) Say() {}\n"),
    "cs": ("a/Ink.cs", "namespace N { public class Ink { public void Say() { } } }\n"),
    "java": ("a/Ink.java", "package a;\nclass Ink { void Say() { } }\n"),
    "kt": ("a/Ink.kt", "package a\nclass Ink { fun Say() {} }\n"),
    "scala": ("a/Ink.scala", "package a\nclass Ink { def Say(): Unit = () }\n"),
    "swift": ("a/Ink.swift", "class Ink { func Say() {} }\n"),
    "php": ("a/Ink.php", "<?php\nclass Ink { public function Say() {} }\n"),
    "ts": ("a/ink.ts", "export class Ink { Say() {} }\n"),
    "py": ("a/ink.py", "class Ink:\n    def Say(self): ...\n"),
    "cpp": ("a/ink.h", "#include <vector>\nclass Ink { public: void Say() { } };\n"),
}
#: a type with a member that is named like its type, and a sibling of that type
BOX = {
    "go": (
        "a/box.go",
        (
            "package a\n\ntype Box struct {\n\tInk *Ink\n\tother []*Ink\n}\n\nfunc (b *Box) Own() { b.Ink.Say() }\n\n"
            "func (b *Box) Sibling() { b.other[0].Say() }\n"
        ),
    ),
    "cs": (
        "a/Box.cs",
        (
            "namespace N { public class Box { public Ink Ink { get; } private Ink[] other;\n"
            "void Own() { Ink.Say(); }\nvoid Sibling() { other[0].Say(); } } }\n"
        ),
    ),
    "java": (
        "a/Box.java",
        (
            "package a;\nclass Box { Ink Ink; Ink[] other;\n"
            "void Own() { this.Ink.Say(); }\nvoid Sibling() { other[0].Say(); } }\n"
        ),
    ),
    "kt": (
        "a/Box.kt",
        (
            "package a\nclass Box(val Ink: Ink?, val other: List<Ink>) {\n"
            "fun Own() { Ink?.Say() }\nfun Sibling() { other[0].Say() } }\n"
        ),
    ),
    "scala": (
        "a/Box.scala",
        (
            "package a\nclass Box(val Ink: Ink, val other: Ink) {\n"
            "def Own(): Unit = Ink.Say()\ndef Sibling(): Unit = other.Say() }\n"
        ),
    ),
    "swift": (
        "a/Box.swift",
        (
            "class Box { var Ink: Ink?\nvar other: [Ink]\n"
            "func Own() { Ink?.Say() }\nfunc Sibling() { other[0].Say() } }\n"
        ),
    ),
    "php": (
        "a/Box.php",
        (
            "<?php\nclass Box { private ?Ink $Ink; private Ink $other;\n"
            "function Own() { $this->Ink->Say(); }\nfunction Sibling() { $this->other->Say(); } }\n"
        ),
    ),
    "ts": (
        "a/box.ts",
        (
            'import { Ink } from "./ink";\nclass Box { Ink?: Ink; other: Ink[];\n'
            "Own() { this.Ink.Say(); }\nSibling() { this.other[0].Say(); } }\n"
        ),
    ),
    "py": (
        "a/box.py",
        (
            "from a.ink import Ink\n\nclass Box:\n    Ink: Ink | None\n    other: list[Ink]\n\n"
            "    def Own(self):\n        self.Ink.Say()\n\n    def Sibling(self):\n        self.other[0].Say()\n"
        ),
    ),
    "cpp": (
        "a/box.cpp",
        (
            '#include "ink.h"\nclass Box { class Ink *Ink; std::vector<class Ink> other;\n'
            "void Own() { this->Ink->Say(); }\nvoid Sibling() { other[0].Say(); } };\n"
        ),
    ),
}


@pytest.mark.parametrize("language", sorted(INK))
def test_a_member_that_is_named_like_its_type_and_its_sibling_have_this_type(language):
    path = BOX[language][0]
    project = project_of(dict([INK[language], BOX[language]]))
    edges = edges_of(project, Evaluator(project), path)
    callers = {
        e.source.rpartition(".")[2] for e in edges if e.type == "calls" and e.target.endswith("Ink.Say")
    }
    assert callers == {"Own", "Sibling"}
    users = [e for e in edges if e.type == "uses_type" and e.target.rpartition(":")[2] == "Ink"]
    assert len({e.location for e in users}) == 2, "each place that names the type"


TWINS = "class Ink { void say() { } }\nclass Hue { void say() { } }\n"


@pytest.mark.parametrize(
    ("members", "target"),
    [
        ("Ink Hue; Hue it;", "Hue.say"),
        ("Hue Ink; Hue Hue; Ink it;", "Ink.say"),
        ("Ink Hue() { return null; } Hue it;", "Hue.say"),
    ],
)
def test_a_member_that_is_named_like_another_type_does_not_give_its_own_type(members, target):
    text = f"{TWINS}class Box {{ {members} void go() {{ it.say(); }} }}\n"
    [call] = [e for e in calls_in(project_of({"A.java": text}), "A.java") if e.source.endswith("Box.go")]
    assert call.target == f"A:{target}"


def test_a_type_parameter_hides_a_type_of_its_name():
    text = (
        f"{TWINS}interface Pen {{ void say(); }}\n"
        "class Box<Hue extends Pen> { Hue Hue; Hue it; void go() { it.say(); } <Ink extends Pen> void all(Ink Ink) { Ink.say(); } }\n"
    )
    edges = calls_in(project_of({"A.java": text}), "A.java")
    assert {(e.source, e.target) for e in edges} == {("A:Box.go", "A:Pen.say"), ("A:Box.all", "A:Pen.say")}


def test_an_object_that_is_named_like_its_class_does_not_hide_a_construction():
    texts = {
        "ink.ts": "export class Ink { say() {} }\n",
        "box.ts": 'import { Ink } from "./ink";\nclass Box { Ink: Ink = new Ink();\n more = new Ink(); go() { this.more.say(); } }\n',
    }
    edges = calls_in(project_of(texts), "box.ts")
    assert sorted((e.source, e.target, e.confidence) for e in edges) == [
        ("box:Box", "ink:Ink", "import"),
        ("box:Box", "ink:Ink", "import"),
        ("box:Box.go", "ink:Ink.say", "receiver"),
    ]


def test_types_and_members_that_name_each_other_in_circles_end():
    text = (
        "class A extends B { C B; B C; A A; void go() { B.go(); C.go(); A.go(); } }\n"
        "class B extends C { A C; C A; B B; void go() { A.go(); } }\n"
        "class C extends A { B A; A B; C C; void go() { B.go(); } }\n"
    )
    edges = calls_in(project_of({"A.java": text}), "A.java")
    assert ("A:A.go", "A:C.go") in {(e.source, e.target) for e in edges}
