"""Functions as values: whoever is passed, assigned or stored is referred to, in every language."""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.small import project_of

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
            ("app", "jobs:late", 2),
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
        for path in project.files
        for edge in edges_of(project, evaluator, path)
        if edge.type == "references"
    }


@pytest.mark.parametrize("language", CASES)
def test_a_function_that_is_passed_assigned_or_stored_is_referred_to(language):
    files, wanted = CASES[language]
    assert references(files) == wanted
