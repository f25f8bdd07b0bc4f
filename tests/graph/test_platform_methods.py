"""Calls on an unknown receiver, by names that a type of the platform has, and by other names."""

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.small_graphs import calls_in, project_of
from tests.graph.test_truth import load

#: language → (path, text with a method NAME of the project and a call on an unknown receiver,
#: names of the platform)
CALLS = {
    "typescript": (
        "a.ts",
        "class Disk {\n  NAME(x: string) {}\n}\nexport function run(x: any) {\n  x.y.NAME('');\n}\n",
        ["enqueue", "appendChild", "getReader", "pipeTo", "setAttribute", "copyWithin"],
    ),
    "javascript": (
        "a.js",
        "class Disk {\n  NAME(x) {}\n}\nfunction run(x) {\n  x.y.NAME('');\n}\n",
        ["enqueue", "scrollIntoView", "setRequestHeader", "writeHead"],
    ),
    "python": (
        "a.py",
        "class Disk:\n    def NAME(self, x): ...\n\n\ndef run(x):\n    x.y.NAME('')\n",
        ["appendleft", "most_common", "iterdir", "isoformat", "call_soon_threadsafe", "sendall"],
    ),
    "go": (
        "a.go",
        (
            "package a\n\ntype Disk struct{}\n\nfunc (d *Disk) NAME(x string) {}\n\n"
            'func run() {\n\tx := unknown()\n\tx.y.NAME("")\n}\n'
        ),
        ["WriteString", "ReadRune", "PushBack", "WriteHeader"],
    ),
    "java": (
        "a/A.java",
        (
            "package a;\n\nclass Disk {\n  void NAME(String x) {}\n}\n\nclass A {\n"
            '  void run() {\n    x.y().NAME("");\n  }\n}\n'
        ),
        ["computeIfAbsent", "removeIf", "setLength", "appendTail"],
    ),
    "csharp": (
        "a.cs",
        (
            "class Disk {\n  public void NAME(string x) {}\n}\nclass A {\n"
            '  void Run() {\n    x.Y().NAME("");\n  }\n}\n'
        ),
        ["Enqueue", "AppendLine", "TryAdd", "CopyTo"],
    ),
    "cpp": (
        "a.cpp",
        "class Disk {\npublic:\n  void NAME(int x) {}\n};\nvoid run() {\n  x.y().NAME(1);\n}\n",
        ["push_front", "try_emplace", "notify_all", "lower_bound"],
    ),
    "php": (
        "a.php",
        "<?php\nclass Disk {\n    public function NAME($x) {}\n}\nfunction run($x) {\n    $x->y()->NAME('');\n}\n",
        ["fetchColumn", "offsetGet", "getBasename", "rewind"],
    ),
    "swift": (
        "a.swift",
        "class Disk {\n  func NAME(_ x: Int) {}\n}\nfunc run() {\n  x.y().NAME(1)\n}\n",
        ["removeValue", "formUnion", "dataTask", "reserveCapacity"],
    ),
    "scala": (
        "a.scala",
        "class Disk {\n  def NAME(x: Int): Unit = ()\n}\nobject A {\n  def run(): Unit = x.y().NAME(1)\n}\n",
        ["getOrElseUpdate", "foldLeft", "appended", "stripPrefix"],
    ),
    "ruby": (
        "a.rb",
        "class Disk\n  def NAME(x)\n  end\nend\n\ndef run(x)\n  x.y.NAME(1)\nend\n",
        ["each_slice", "gsub", "transform_values"],
    ),
    "rust": (
        "a.rs",
        "struct Disk;\nimpl Disk {\n    fn NAME(&self, x: u8) {}\n}\nfn run(x: Unknown) {\n    x.y().NAME(1);\n}\n",
        ["push_back", "get_or_insert_with", "chunks"],
    ),
}


def edges_by_name(files):
    project = load(files)
    evaluator = Evaluator(project)
    edges = (edge for path in files for edge in edges_of(project, evaluator, path))
    return [edge for edge in edges if edge.type == "calls" and edge.confidence == "name"]


@pytest.mark.parametrize("language", CALLS)
def test_a_method_that_the_platform_has_too_is_a_candidate(language):
    path, text, names = CALLS[language]
    library = load({path: text}).rules(path).library_methods  # of these nothing is said
    for name in names:
        edges = edges_by_name({path: text.replace("NAME", name)})
        assert [(edge.target, len(edge.candidates)) for edge in edges] == [("", 1)] * (name not in library)


@pytest.mark.parametrize("language", CALLS)
def test_another_name_leads_to_the_only_method(language):
    path, text, _ = CALLS[language]
    name = "StowAway" if language in ("go", "csharp") else "stowAway"
    assert len(edges_by_name({path: text.replace("NAME", name)})) == 1


def test_several_methods_of_the_project_stay_candidates():
    text = "class A {\n  save() {}\n}\nclass B {\n  save() {}\n}\nfunction run(x) {\n  x.y.save();\n}\n"
    (edge,) = edges_by_name({"a.js": text})
    assert (edge.target, edge.candidates) == ("", ("a:A.save", "a:B.save"))


def test_the_controller_of_a_stream_is_no_object_of_another_function():
    files = {
        "stream.ts": (
            "export function toStream(texts: string[]) {\n  return new ReadableStream<string>({\n"
            "    start(controller) {\n      for (const text of texts) controller.enqueue(text);\n    },\n  });\n}\n"
        ),
        "controller.ts": (
            "export function createQueue() {\n  const items: string[] = [];\n  const queueController = {\n"
            "    enqueue(item: string) { items.push(item); },\n  };\n  return queueController;\n}\n"
        ),
    }
    assert not edges_by_name(files)


def test_an_object_of_another_function_is_a_candidate_in_its_file():
    text = (
        "export function createQueue(other: any) {\n  const queue = {\n    enqueue(item: string) {},\n  };\n"
        "  other.x.enqueue('');\n  return queue;\n}\n"
    )
    (edge,) = edges_by_name({"controller.ts": text})
    assert (edge.target, edge.candidates) == ("", ("controller:createQueue.queue.enqueue",))


def test_a_function_that_the_library_of_c_has_too_is_a_candidate_of_its_calls():
    texts = {
        "ports.cpp": "int setenv(const char* a, const char* b, int c) { return 0; }\n"
        "namespace own { int strdup(int text) { return text; } int copy() { return strdup(1); } }\n"
        'void keep() {}\nvoid change() { keep(); setenv("A", "B", 1); }\n',
    }
    edges = calls_in(project_of(texts), "ports.cpp")
    assert [(edge.target, edge.candidates) for edge in edges] == [
        ("ports:own.strdup", ()),
        ("ports:keep", ()),
        ("", ("ports:setenv",)),
    ]
