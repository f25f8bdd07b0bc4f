"""Conventions of Laravel: handlers of jobs and events, scopes of models."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

SHOP = r"""<?php
namespace App;
use Illuminate\Foundation\Bus\Dispatchable;

abstract class Job { use Dispatchable; }
class SendJob extends Job {
  public function handle() {}
  public static function later() { static::dispatch(); }
}
class Plain {
  public function handle() {}
  public static function later() { static::dispatch(); }
}
class Bell extends \Vendor\EventDispatcher {
  public function handle() {}
  public static function later() { static::dispatch(); }
}
class Page extends Model {
  public function scopeQuery($query) {}
  public function scopeVisible($query) {}
}
class Shipped { use Dispatchable; }
class Mailed {}
class SendMail { public function handle(Shipped $event) {} }
class Count { public function handle(Shipped $event) {} }
class Filter { public function handle(Shipped $event, $next) {} }
"""


def _targets(call: str, **further: str) -> list[str]:
    run = f"<?php\nnamespace App;\nclass Run {{\n  public function run() {{ {call} }}\n}}\n"
    calls = calls_in(project_of({"shop.php": SHOP, "run.php": run, **further}), "run.php")
    sure = [edge.target.partition(":")[2] for edge in calls if edge.confidence != "name"]
    return sorted(target for target in sure if "." in target)


@pytest.mark.parametrize(
    ("call", "targets"),
    [
        ("dispatch(new SendJob(1));", ["SendJob.handle"]),
        ("dispatch_sync(new Plain);", ["Plain.handle"]),
        ("$this->dispatch(new SendJob(1));", ["SendJob.handle"]),
        ("$job = new SendJob(1); dispatch($job)->onQueue('x');", ["SendJob.handle"]),
        ("Bus::chain([new SendJob(1), new Plain])->dispatch();", ["Plain.handle", "SendJob.handle"]),
        ("SendJob::dispatch(1);", ["SendJob.handle"]),
        ("event(new Shipped(1));", ["Count.handle", "SendMail.handle"]),
        ("Event::dispatch(new Shipped(1));", ["Count.handle", "SendMail.handle"]),
        ("Shipped::dispatch(1);", ["Count.handle", "SendMail.handle"]),
        ("Page::visible();", ["Page.scopeVisible"]),
        # counter-examples
        ("event(new Mailed);", []),
        ("dispatch('name');", []),
        ("$other->dispatch(new SendJob(1));", []),
        ("report(new SendJob(1));", []),
        ("Plain::dispatch(1);", []),
        ("Page::query();", []),
    ],
)
def test_a_dispatch_is_a_call_of_the_handler(call, targets):
    assert _targets(call) == targets


def test_only_a_job_dispatches_itself():
    calls = calls_in(project_of({"shop.php": SHOP}), "shop.php")
    lines = [edge.location.line for edge in calls if edge.target.endswith(".handle")]
    assert lines == [8]


def test_a_new_listener_is_called_by_the_files_that_dispatch_its_event():
    run = "<?php\nnamespace App;\nfunction run() { event(new Mailed()); }\n"
    project = project_of({"shop.php": SHOP, "run.php": run})
    listener = "<?php\nnamespace App;\nclass Log { public function handle(Mailed $event) {} }\n"
    affected = project.update({"log.php": project_of({"log.php": listener}).packed["log.php"]})
    assert "run.php" in affected
    assert "log:Log.handle" in [edge.target for edge in calls_in(project, "run.php")]
