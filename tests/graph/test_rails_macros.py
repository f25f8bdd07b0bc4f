"""Methods that macros of Rails and conventions of Laravel make of a word."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

STORY = """class Story < ApplicationRecord
  belongs_to :user
  has_many :votes,
    dependent: :destroy
  has_one 'hat'
  has_and_belongs_to_many :tags
  scope :recent, -> {
    where(old: false)
  }
  scope :hot, -> { recent }
  enum :status, [:open, :closed]
  enum kind: { a: 0 }, role: { b: 0 }
  attribute :score, :integer
  delegate :name, to: :user, prefix: true
  validates :title, presence: true
  helper.scope :other

  def show
    scope :inner
  end
end

scope :outside do
end
"""


def test_macros_define_methods_of_their_first_word():
    facts = project_of({"story.rb": STORY}).index("story.rb").facts
    defined = [(d.qualified, d.kind, d.start_line, d.end_line) for d in facts.definitions]
    assert defined == [
        ("Story", "class", 1, 21),
        ("Story.user", "method", 2, 2),
        ("Story.votes", "method", 3, 4),
        ("Story.hat", "method", 5, 5),
        ("Story.tags", "method", 6, 6),
        ("Story.recent", "method", 7, 9),
        ("Story.hot", "method", 10, 10),
        ("Story.status", "method", 11, 11),
        ("Story.kind", "method", 12, 12),
        ("Story.score", "method", 13, 13),
        ("Story.show", "method", 18, 20),
    ]
    members = [(member.scope, member.name, member.start_line) for member in facts.members]
    assert members == [("Story", "user_name", 14)]


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("Story.recent", "story:Story.recent"),
        ("Story.hot.recent.first", "story:Story.recent"),
        ("Story.new.votes", "story:Story.votes"),
        ("Tape.recent", ""),
    ],
)
def test_a_scope_is_a_method_of_the_class_and_an_association_one_of_its_instances(call, target):
    calls = calls_in(project_of({"story.rb": STORY, "run.rb": f"def run\n  {call}\nend\n"}), "run.rb")
    assert [edge.target for edge in calls if ".recent" in edge.target or ".votes" in edge.target] == [
        target
    ] * bool(target)


def test_a_scope_of_laravel_is_called_without_its_prefix():
    page = (
        "<?php\nclass Page extends Model {\n  public function scopeVisible($query) { return $query; }\n"
        "  public function scoped() {}\n}\n"
    )
    run = "<?php\nfunction run(Page $page) {\n  Page::visible();\n  $page->visible();\n  Page::Visible();\n  $page->hidden();\n}\n"
    calls = calls_in(project_of({"page.php": page, "run.php": run}), "run.php")
    assert [(edge.location.line, edge.target) for edge in calls if edge.target.startswith("page")] == [
        (3, "page:Page.scopeVisible"),
        (4, "page:Page.scopeVisible"),
    ]


JOBS = """class SendJob < ApplicationJob
  def perform(id)
  end
end
class Mailer
end
class UserMailer < ApplicationMailer
  def welcome(user)
  end
end
"""


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("SendJob.perform_later(1)", "SendJob.perform"),
        ("SendJob.perform_async 1", "SendJob.perform"),
        ("SendJob.perform_in(5, 1)", "SendJob.perform"),
        ("SendJob.set(wait: 1).perform_later(1)", "SendJob.perform"),
        ("SendJob.new.perform_now", "SendJob.perform"),
        ("UserMailer.welcome(1).deliver_later", "UserMailer.welcome"),
        ("UserMailer.with(user: 1).welcome.deliver_later", "UserMailer.welcome"),
        ("Mailer.perform_later(1)", ""),
        ("SendJob.performs_later(1)", ""),
        ("other.perform_later(1)", ""),
    ],
)
def test_the_call_that_enqueues_a_job_or_a_mail_is_a_call_of_its_method(call, target):
    calls = calls_in(project_of({"jobs.rb": JOBS, "run.rb": f"def run(other)\n  {call}\nend\n"}), "run.rb")
    targets = [edge.target.partition(":")[2] for edge in calls]
    assert [name for name in targets if name in ("SendJob.perform", "UserMailer.welcome")] == [target] * bool(
        target
    )


def test_a_job_of_laravel_is_handled_where_it_is_dispatched():
    job = "<?php\nclass SendJob {\n  use Dispatchable;\n  public function handle() {}\n}\nclass Plain {}\n"
    run = "<?php\nfunction run() {\n  SendJob::dispatch(1);\n  SendJob::dispatchSync(1);\n  Plain::dispatch(1);\n}\n"
    calls = calls_in(project_of({"job.php": job, "run.php": run}), "run.php")
    assert [(edge.location.line, edge.target) for edge in calls if "handle" in edge.target] == [
        (3, "job:SendJob.handle"),
        (4, "job:SendJob.handle"),
    ]


@pytest.mark.parametrize(
    ("path", "call", "is_result"),
    [
        ("run.rb", "def run\n  LoadJob.perform_later(1).spin\nend\n", False),
        ("run.rb", "def run\n  LoadJob.perform_later.spin\nend\n", False),
        ("run.rb", "def run\n  LoadJob.perform_now(1).spin\nend\n", True),
        ("run.php", "<?php\nfunction run() { LoadJob::dispatch(1)->spin(); }\n", False),
        ("run.php", "<?php\nfunction run() { LoadJob::dispatchSync(1)->spin(); }\n", True),
    ],
)
def test_only_a_call_that_waits_for_a_job_has_its_result(path, call, is_result):
    ruby = (
        "class LoadJob < Job\n  def perform(id)\n    Disk.new\n  end\nend\nclass Disk\n  def spin; end\nend\n"
    )
    php = "<?php\nclass LoadJob { use Dispatchable; public function handle(): Disk {} }\nclass Disk { public function spin() {} }\n"
    calls = calls_in(project_of({"jobs.rb": ruby, "work.php": php, path: call}), path)
    targets = [edge.target.partition(":")[2] for edge in calls]
    assert {"LoadJob.perform", "LoadJob.handle"}.intersection(targets)
    assert ("Disk.spin" in targets) == is_result


def test_a_scope_of_routes_and_a_word_that_is_no_name_make_no_method():
    text = (
        'class Routes < Router\n  scope "admin" do\n  end\n  scope :old, as: :past do\n  end\n'
        '  attribute "first name"\nend\n'
    )
    facts = project_of({"routes.rb": text}).index("routes.rb").facts
    assert [definition.qualified for definition in facts.definitions] == ["Routes"]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("  has_many :posts\n  def posts\n  end\n", ["Page", "Page.posts"]),
        ("  private def posts\n  end\n  has_many :posts\n", ["Page", "Page.posts"]),
        ("  scope :fresh, -> { all }\n  def self.fresh\n  end\n", ["Page", "Page.fresh"]),
        ("  scope :fresh, -> { all }\n  def fresh\n  end\n", ["Page", "Page.fresh", "Page.fresh"]),
        ("  def self.enum(name)\n  end\n  enum :kind\n", ["Page", "Page.enum"]),
        (
            "  class << self\n    def scope(name, body)\n    end\n  end\n  scope :a, 1\n",
            ["Page", "Page.scope"],
        ),
    ],
)
def test_a_method_of_the_class_wins_over_what_a_macro_of_its_name_defines(body, names):
    facts = project_of({"page.rb": f"class Page < Record\n{body}end\n"}).index("page.rb").facts
    assert [definition.qualified for definition in facts.definitions] == names


@pytest.mark.parametrize(("maker", "is_called"), [("enum", False), ("other", True)])
def test_a_macro_of_a_base_class_is_not_that_of_rails(maker, is_called):
    base = f"class Form\n  def self.{maker}(name)\n  end\nend\n"
    page = "class Page < Form\n  enum :kind\nend\n"
    run = "def run\n  Page.new.kind\nend\n"
    calls = calls_in(project_of({"base.rb": base, "page.rb": page, "run.rb": run}), "run.rb")
    sure = [edge.target for edge in calls if edge.confidence != "name"]
    assert ("page:Page.kind" in sure) == is_called


def test_a_method_in_another_file_of_the_class_wins_over_a_macro():
    texts = {
        "page.rb": "class Page < ApplicationRecord\n  has_many :posts\nend\n",
        "more.rb": "class Page\n  def posts\n  end\nend\n",
        "run.rb": "def run\n  Page.new.posts\nend\n",
    }
    calls = calls_in(project_of(texts), "run.rb")
    assert [edge.target for edge in calls if edge.target.endswith(".posts")] == ["more:Page.posts"]
