"""Associations and queries of Rails' models: which model a value has."""

from __future__ import annotations

import pytest

from cortex.graph.facts.rails import singular
from tests.graph.small_graphs import calls_in, project_of

MODELS = """class ApplicationRecord < ActiveRecord::Base
end
class User < ApplicationRecord
  has_many :stories
  has_one :badge, class_name: "Shop::Hat"
  has_many :tagged, class_name: "::Story", dependent: :destroy
  has_many :voters, through: :votes, source: :user
  scope :active, -> { where(banned: false).recently }
  scope :recently, -> { where(old: false) }
  def self.top
    where(karma: 9).order(:karma)
  end
  def self.best = order(1).active
  def pay; end
end
class Story < ApplicationRecord
  belongs_to :user
  belongs_to :thing, polymorphic: true
  scope :recent, -> { where(old: false) }
  scope :hot, ->(limit) { recent.limit(limit) }
  def self.named(name)
    find_by(name: name)
  end
  def title; end
  def pay_owner
    user.pay
  end
end
module Shop
  class Hat < ApplicationRecord
    def wear; end
  end
end
module Counted
  extend ActiveSupport::Concern
  included do
    scope :counted, -> { select(:id).where(count: 1) }
    has_many :stories
  end
  def self.plain; end
end
class Shelf < ApplicationRecord
  include Counted
end
class Tape
  def pay; end
  def title; end
  def wear; end
  def self.recent; end
  def self.active; end
  def first; end
end
"""


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("User.find(1).pay", "User.pay"),
        ("User.first.pay", "User.pay"),
        ("User.find_by(a: 1).stories.recent.first.title", "Story.title"),
        ("User.find_by(a: 1).stories.recent", "Story.recent"),
        ("User.new.stories.recent.hot(1).first!.title", "Story.title"),
        ("User.new.stories.each { |story| story.title }", "Story.title"),
        ("User.top.each do |user| user.pay end", "User.pay"),
        ("User.top.active.first.pay", "User.pay"),
        ("User.best.first.pay", "User.pay"),
        ("User.where(a: 1).where.not(b: 1).active", "User.active"),
        ("Story.named(1).title", "Story.title"),
        ("Story.recent.hot(1).last.user.pay", "User.pay"),
        ("Story.find_each { |story| story.user.pay }", "User.pay"),
        ("Story.create!(a: 1).user.pay", "User.pay"),
        ("User.new.badge.wear", "Shop.Hat.wear"),
        ("User.new.tagged.build.title", "Story.title"),
        ("User.new.voters.first.pay", "User.pay"),
        ("Story.new.pay_owner", "Story.pay_owner"),
        ("Shelf.counted.first.stories.last.title", "Story.title"),
        ("Shelf.select(:id).counted", "Counted.counted"),
    ],
)
def test_an_association_and_a_query_yield_their_model(call, target):
    calls = calls_in(project_of({"models.rb": MODELS, "run.rb": f"def run\n  {call}\nend\n"}), "run.rb")
    assert f"models:{target}" in [edge.target for edge in calls if edge.confidence != "name"]


@pytest.mark.parametrize(
    "call",
    [
        "Story.new.thing.title",  # of any class
        "Tape.first.title",  # no model
        "User.count.pay",
        "User.pluck(:id).recent",
        "User.new.unknown.wear",
        "User.new.stories.size.title",
        "Shelf.plain",
    ],
)
def test_what_is_no_model_has_no_method_of_one(call):
    calls = calls_in(project_of({"models.rb": MODELS, "run.rb": f"def run\n  {call}\nend\n"}), "run.rb")
    wanted = {
        "models:Counted.plain",
        "models:User.pay",
        "models:Story.title",
        "models:Story.recent",
        "models:Shop.Hat.wear",
    }
    assert not wanted & {edge.target for edge in calls if edge.confidence != "name"}


def test_a_scope_that_a_scope_or_a_class_method_calls_is_that_of_its_model():
    calls = calls_in(project_of({"models.rb": MODELS}), "models.rb")
    assert [(edge.location.line, edge.target.partition(":")[2]) for edge in calls] == [
        (8, "User.recently"),
        (13, "User.active"),
        (26, "User.pay"),
        (20, "Story.recent"),
        (26, "Story.user"),
    ]


@pytest.mark.parametrize(
    ("plural", "word"),
    [
        ("stories", "story"),
        ("votes", "vote"),
        ("statuses", "status"),
        ("hat_requests", "hat_request"),
        ("people", "person"),
        ("children", "child"),
        ("boxes", "box"),
        ("news", "news"),
        ("addresses", "address"),
        ("houses", "house"),
        ("women", "woman"),
    ],
)
def test_the_class_of_an_association_is_its_singular(plural, word):
    assert singular(plural) == word


def test_a_changed_class_of_an_association_moves_the_calls_behind_it():
    story = "class Story < ApplicationRecord\n  def title; end\nend\nclass Page < ApplicationRecord\n  def title; end\nend\n"
    user = "class User < ApplicationRecord\n  has_many :stories\nend\n"
    texts = {"story.rb": story, "user.rb": user, "run.rb": "def run\n  User.new.stories.first.title\nend\n"}
    project = project_of(texts)
    changed = user.replace(":stories", ":stories, class_name: 'Page'")
    affected = project.update({"user.rb": project_of({"user.rb": changed}).packed["user.rb"]})
    assert "run.rb" in affected
    assert "story:Page.title" in [edge.target for edge in calls_in(project, "run.rb")]
