"""Java's calls past fields of the same name, and elements of annotations."""

from __future__ import annotations

from tests.graph.small_graphs import calls_in, project_of


def targets(texts: dict[str, str], path: str) -> list[tuple[int, str, str]]:
    edges = calls_in(project_of(texts), path)
    return sorted((edge.location.line, edge.target.partition(":")[2], edge.confidence) for edge in edges)


def test_a_field_or_parameter_hides_no_imported_method():
    names = "package names;\npublic class Names {\n  public static String name(String a) { return a; }\n}\n"
    user = (
        "package use;\nimport static names.Names.name;\nclass User {\n  private String name;\n"
        "  void run() { name(name); }\n  void set(String name) { name(name); }\n}\n"
        "class Own {\n  private String name;\n  String name(String a) { return a; }\n"
        "  void run() { name(name); }\n}\n"
    )
    assert targets({"names/Names.java": names, "use/User.java": user}, "use/User.java") == [
        (5, "Names.name", "import"),
        (6, "Names.name", "import"),
        (11, "Own.name", "receiver"),
    ]


def test_an_element_of_an_annotation_is_a_method():
    text = (
        'package a;\n@interface Timed {\n  String name() default "";\n  Level level();\n}\n'
        "class Level {\n  void rise() {}\n}\n"
        "class Read {\n  void read(Timed timed) {\n    timed.name();\n    timed.level().rise();\n  }\n}\n"
    )
    assert targets({"a/Read.java": text}, "a/Read.java") == [
        (11, "Timed.name", "receiver"),
        (12, "Level.rise", "receiver"),
        (12, "Timed.level", "receiver"),
    ]
