"""Functions as values: each function that is passed, assigned or stored has a reference, in every
language.
"""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.small_graphs import project_of

#: language → (files, (source, target, line) of every reference to a function as a value)
CASES = {
    "python": (
        {
            "app.py": "import jobs\nfrom jobs import late\ndef early(): ...\nTABLE = {'a': early, 'b': jobs.late}\n"
            "@register(key=late)\ndef run(early_too=early, late=1):\n    start(late)\n    return early\n"
            "class Task:\n    def go(self): submit(self.stop, self.data, Task)\n    def stop(self): self.data = 1\n",
            "jobs.py": "def late(): ...\n",
        },
        {
            ("app:TABLE", "app:early", 4),
            ("app:TABLE", "jobs:late", 4),
            ("app", "jobs:late", 5),
            ("app:run", "app:early", 6),
            ("app:run", "app:early", 8),
            ("app:Task.go", "app:Task.stop", 10),
            ("app:Task.go", "app:Task", 10),
        },
    ),
    "javascript": (
        {
            "app.js": "import { late } from './jobs';\nfunction early() {}\non('x', early);\nconst table = { a: early, late };\n"
            "const page = <Button press={early} />;\nexport default early;\nfunction run(late) { on(late); }\n",
            "jobs.js": "export function late() {}\n",
        },
        {
            ("app", "app:early", 3),
            ("app:table", "app:early", 4),
            ("app:table", "jobs:late", 4),
            ("app:page", "app:early", 5),
            ("app", "app:early", 6),
        },
    ),
    "typescript": (
        {
            "app.ts": "function early(): void {}\nclass Task {\n  go = early;\n  run() { on([early], this.run); }\n}\n"
        },
        {
            ("app:Task", "app:early", 3),
            ("app:Task.run", "app:early", 4),
        },
    ),
    "go": (
        {
            "app.go": 'package app\nvar table = map[string]func(){"a": late}\ntype Task struct{ Run func() }\n'
            "func (t Task) stop() {}\nfunc run(t Task) func() {\n\ton(late, t.stop)\n\tq := Task{Run: late}\n\treturn late\n}\n",
            "jobs.go": "package app\nfunc late() {}\n",
        },
        {
            ("app:table", "jobs:late", 2),
            ("app:run", "jobs:late", 6),
            ("app:run", "app:Task.stop", 6),
            ("app:run", "jobs:late", 7),
            ("app:run", "jobs:late", 8),
        },
    ),
    "c": (
        {
            "app.c": "void early(void) {}\nstruct ops table = { .open = early, late };\n"
            "int run(int late) { on(&early, late); p->f = early; return 0; }\n",
            "jobs.c": "void late(void) {}\n",
        },
        {("app", "app:early", 2), ("app", "jobs:late", 2), ("app:run", "app:early", 3)},
    ),
    "cpp": (
        {
            "app.cpp": "void early() {}\nclass Task { public: void stop() {} };\n"
            "void run() {\n  on(early, &Task::stop);\n  auto held = early;\n}\n"
        },
        {("app:run", "app:early", 4), ("app:run", "app:Task.stop", 4), ("app:run", "app:early", 5)},
    ),
    "java": (
        {
            "App.java": "class App {\n  void stop() {}\n  static void late() {}\n  void run(int stop) {\n"
            "    on(App::late, this::stop);\n    on(stop);\n  }\n}\n"
        },
        {("App:App.run", "App:App.late", 5), ("App:App.run", "App:App.stop", 5)},
    ),
    "csharp": (
        {
            "App.cs": "class App {\n  void Stop() {}\n  static void Late() {}\n  void Run() {\n    On(Stop, App.Late);\n"
            "    Closed += Stop;\n  }\n}\n"
        },
        {
            ("App:App.Run", "App:App.Stop", 5),
            ("App:App.Run", "App:App.Late", 5),
            ("App:App.Run", "App:App.Stop", 6),
        },
    ),
    "kotlin": (
        {
            "app.kt": "fun late() {}\nclass Task {\n  fun stop() {}\n  fun run() { on(this::stop) }\n}\n"
            "val table = listOf(::late, Task::stop)\n"
        },
        {("app:Task.run", "app:Task.stop", 4), ("app", "app:late", 6), ("app", "app:Task.stop", 6)},
    ),
    "scala": (
        {
            "app.scala": "object App {\n  def late(x: Int) = x\n  def run(xs: List[Int]) = {\n    xs.map(late)\n"
            "    val held = late _\n  }\n}\n"
        },
        {("app:App.run", "app:App.late", 4), ("app:App.run", "app:App.late", 5)},
    ),
    "php": (
        {
            "app.php": "<?php\nclass Task {\n  function stop() {}\n  static function late() {}\n  function run() {\n"
            "    on([$this, 'stop']);\n    on([Task::class, 'late']);\n    on(['this', 'stop']);\n  }\n}\n"
        },
        {("app:Task.run", "app:Task.stop", 6), ("app:Task.run", "app:Task.late", 7)},
    ),
    "ruby": (
        {
            "app.rb": "class Task\n  before :load, only: :other\n  def load\n  end\n  def run(xs)\n    xs.map(&method(:load))\n"
            "  end\nend\n"
        },
        {("app:Task", "app:Task.load", 2), ("app:Task.run", "app:Task.load", 6)},
    ),
    "rust": (
        {
            "src/app.rs": "fn late() {}\nstruct Task;\nimpl Task {\n    fn stop(&self) {}\n    fn run() { on(Self::stop); }\n}\n"
            "fn all(late_too: i32) { on(late, Task::stop); let held = late; on(late_too); }\nstatic HELD: F = late;\n"
        },
        {
            ("src/app:Task.run", "src/app:Task.stop", 5),
            ("src/app:all", "src/app:late", 7),
            ("src/app:all", "src/app:Task.stop", 7),
            ("src/app:HELD", "src/app:late", 8),
        },
    ),
    "swift": (
        {
            "app.swift": "func late() {}\nclass Task {\n  func stop() {}\n  func run() {\n    on(late, self.stop)\n"
            '    let table = ["a": late]\n  }\n}\n'
        },
        {
            ("app:Task.run", "app:late", 5),
            ("app:Task.run", "app:Task.stop", 5),
            ("app:Task.run", "app:late", 6),
        },
    ),
}


def references(files):
    project = project_of(files)
    evaluator = Evaluator(project)
    return {
        (edge.source, edge.target, edge.location.line)
        for path in project.packed
        for edge in edges_of(project, evaluator, path)
        if edge.type == "references"
    }


@pytest.mark.parametrize("language", CASES)
def test_a_function_that_is_passed_assigned_or_stored_is_referred_to(language):
    files, wanted = CASES[language]
    assert references(files) == wanted


#: language → (file, text with a function as a value in an inconspicuous place, the lines of the
#: references to it)
PLACES = {
    "python": (
        "app.py",
        "def early(): ...\ndef run(done=None):\n    done = done or early\n    at(lambda: early)\n    yield early\n",
        [3, 4, 5],
    ),
    "javascript": (
        "app.js",
        "function early() {}\nconst one = own || early\nconst two = own ?? early\nthree ??= early\n",
        [2, 3, 4],
    ),
    "typescript": (
        "app.ts",
        "function early() {}\non(early as Done)\non(early!)\nconst one = { early: early as Done } satisfies All\n",
        [2, 3, 4],
    ),
    "c": (
        "app.c",
        (
            "static int early(int x) { return x; }\nstatic struct task all[] = {\n  { (done)early },\n  { (void *)&early },\n};\n"
            "done one = SLOW ? late : early;\ndone two(void) {\n  return &early;\n}\n"
        ),
        [3, 4, 6, 8],
    ),
    "rust": (
        "src/lib.rs",
        (
            "fn early(x: u32) -> u32 { x }\nfn run() {\n    on(&early);\n    on(early as Done);\n    assert!(all.iter().all(early));\n"
            '    vec![early, crate::early];\n    #[cfg(early)]\n    format!("{}", early = 1);\n}\nfn two() -> Done {\n    early\n}\n'
        ),
        [3, 4, 5, 6, 6, 11],
    ),
    "go": ("app.go", "package app\nfunc early() {}\nfunc run(all chan func()) {\n\tall <- early\n}\n", [4]),
    "csharp": (
        "App.cs",
        (
            "class App {\n  void Early() {}\n  void Run() {\n    On(own ?? Early);\n    On((Action)Early);\n"
            "    On(slow ? Early : null);\n    On(() => Early);\n  }\n}\n"
        ),
        [4, 5, 6, 7],
    ),
    "ruby": ("app.rb", "class App\n  rescue_from Gone, with: :early\n  def early; end\nend\n", [2]),
    "swift": (
        "app.swift",
        "func early() {}\nfunc one() -> Done {\n  return early\n}\nlet two = own ?? early\nlet three = slow ? early : late\n",
        [3, 5, 6],
    ),
    "scala": (
        "App.scala",
        (
            "object App {\n  def early(x: Int) = x\n  val one = App.early _\n  val two: Done = early\n  on(done = early)\n"
            '  val three = Map("a" -> early)\n}\n'
        ),
        [3, 4, 5, 6],
    ),
}


@pytest.mark.parametrize("language", PLACES)
def test_functions_are_referenced_in_every_value_position(language):
    path, text, lines = PLACES[language]
    project = project_of({path: text})
    edges = edges_of(project, Evaluator(project), path)
    matching = [edge for edge in edges if edge.type == "references" and edge.target.lower().endswith("early")]
    assert sorted(edge.location.line for edge in matching) == lines


def test_a_java_constructor_reference_refers_to_the_type():
    text = """class A {
  A(int x) {}
  class In {}
  void run() {}
  static void use() { on(A::new, A.In::new, B<String>::new, A[]::new, List::new); new A(1); }
}
class B<T> {
  void go() { on(A::run, A::<T>new); }
}
"""
    project = project_of({"A.java": text})
    edges = [edge for edge in edges_of(project, Evaluator(project), "A.java") if edge.location.line >= 5]
    targets = [(edge.target, edge.location.line) for edge in edges if edge.type == "references"]
    a = next(edge.target for edge in edges if edge.type == "calls")
    names = [f"{target.rpartition(':')[2]} {line}" for target, line in targets]
    assert a in [target for target, _ in targets]
    assert sorted(names) == ["A 5", "A 8", "A.In 5", "A.run 8", "B 5"]


def test_the_outermost_of_values_with_the_same_start_is_referenced():
    lines = "".join(f"  on(app.late!.early{n});\n" for n in range(30))
    project = project_of({"app.ts": f"function run(app) {{\n{lines}}}\n"})
    chains = [
        reference.chain for reference in project.index("app.ts").references if reference.kind == "value"
    ]
    assert chains == [f"app.late.early{n}" for n in range(30)]
