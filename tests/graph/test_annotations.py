"""Annotations and attributes are uses of their types, or calls of their constructors."""

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.small_graphs import project_of

#: language → (file of the annotation, text, file of its uses, text, lines of the uses)
ANNOTATIONS = {
    "Java": (
        "p/Ann.java",
        'package p;\npublic @interface Ann { String value() default ""; }\n',
        "q/Use.java",
        (
            'package q;\nimport p.Ann;\n@Ann\nclass Use {\n  @Ann("x") String b() { return null; }\n  void c(@Ann String d) {}\n'
            "  @p.Ann String f;\n  @other.Ann String g;\n}\n"
        ),
        [3, 5, 6, 7],
    ),
    "Kotlin": (
        "p/Ann.kt",
        'package p\nannotation class Ann(val x: String = "")\n',
        "q/Use.kt",
        'package q\nimport p.Ann\n@Ann\nclass Use {\n  @Ann("y") val a = 1\n  fun b(@Ann c: Int) {}\n}\n',
        [3, 5, 6],
    ),
    "C#": (
        "p/Ann.cs",
        "namespace P { public class AnnAttribute : System.Attribute { public AnnAttribute(string x) {} } }\n",
        "q/Use.cs",
        'using P;\nnamespace Q {\n  [Ann("x")]\n  class Use {\n    [P.Ann("y")] int a;\n    void B([AnnAttribute("z")] int c) {}\n  }\n}\n',
        [3, 5, 6],
    ),
    "PHP": (
        "p/Ann.php",
        "<?php\nnamespace P;\n#[\\Attribute]\nclass Ann { function __construct($x) {} }\n",
        "q/Use.php",
        (
            "<?php\nnamespace Q;\nuse P\\Ann;\n#[Ann(1)]\nclass Shop {\n  #[\\P\\Ann(2)]\n  private $a;\n  #[Ann(3)]\n"
            "  function b(#[Ann(4)] $c) {}\n  #[\\Other\\Ann]\n  function d() {}\n}\n"
        ),
        [4, 6, 8, 9],
    ),
    "Scala": (
        "p/Ann.scala",
        "package p\nclass Ann(x: String) extends scala.annotation.StaticAnnotation\n",
        "q/Use.scala",
        'package q\nimport p.Ann\n@Ann("x")\nclass Use {\n  @Ann("y") val a = 1\n}\n',
        [3, 5],
    ),
    "Swift": (
        "p/Ann.swift",
        "@propertyWrapper struct Ann { var wrappedValue: Int }\n",
        "q/Use.swift",
        "class Use {\n  @Ann var a: Int = 1\n}\n",
        [2],
    ),
}


@pytest.mark.parametrize("language", ANNOTATIONS)
def test_annotations_are_uses(language):
    path, text, user, using, lines = ANNOTATIONS[language]
    project = project_of({path: text, user: using})
    edges = edges_of(project, Evaluator(project), user)
    uses = {
        edge.location.line for edge in edges if edge.type in ("uses_type", "calls") and "Ann" in edge.target
    }
    assert sorted(uses) == lines
