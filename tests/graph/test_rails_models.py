"""Associations and queries of Rails' models: which model a value has."""

from __future__ import annotations

import pytest

from cortex.graph.facts.rails import singular
from tests.graph.small_graphs import calls_in, facts_in, project_of

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


def test_a_scope_is_called_on_what_another_scope_of_the_class_returns_and_on_no_instance():
    model = """class ApplicationRecord < ActiveRecord::Base
end
class Tag < ApplicationRecord
  scope :active, -> { where(active: true) }
  scope :base, ->(user) { where(a: user) }
  scope :low, -> { base(1).active }
  def self.one(user)
    base(user).low
  end
  def shown
    Tag.find(1).active
  end
end
"""
    calls = calls_in(project_of({"tag.rb": model}), "tag.rb")
    assert sorted((edge.location.line, edge.target) for edge in calls) == [
        (6, "tag:Tag.active"),
        (6, "tag:Tag.base"),
        (8, "tag:Tag.base"),
        (8, "tag:Tag.low"),
    ]


SHOP = {
    "app/application_record.rb": "class ApplicationRecord < ActiveRecord::Base\nend\n",
    "app/order.rb": "class Order < ApplicationRecord\n  include Priced\nend\n",
    "app/priced.rb": "module Priced\n  def price; end\nend\n",
    "app/source.rb": "class Source < ApplicationRecord\nend\n",
    "app/credit_card.rb": "class CreditCard < Source\n  def number; end\n  def price_tag; end\n  def valid?; end\nend\n",
    "app/callbacks.rb": "module Callbacks\n  module ClassMethods\n    def made; end\n  end\nend\n",
    "app/page_helper.rb": "module PageHelper\n  def shown_page; end\n  def page; end\nend\n",
    "spec/support/sign_in.rb": "module SignIn\n  def sign_in(user); end\nend\n",
    "spec/loose_spec.rb": "Class.new do\n  def loose(a); end\nend\n",
    "spec/other_spec.rb": "class Fake\n  def faked; end\nend\n",
}


@pytest.mark.parametrize(
    ("path", "call", "target"),
    [
        ("spec/a_spec.rb", "order.number", ""),  # a column of the table
        ("spec/a_spec.rb", "credit_card.number", "CreditCard.number"),
        ("spec/a_spec.rb", "source.number", "CreditCard.number"),  # of an heir
        ("spec/a_spec.rb", "thing.number", "CreditCard.number"),
        ("spec/a_spec.rb", "thing.valid?", ""),  # every model's
        ("spec/a_spec.rb", "order.price", "Priced.price"),
        ("spec/a_spec.rb", "made(:order)", ""),
        ("spec/a_spec.rb", "shown_page(1)", ""),
        ("spec/a_spec.rb", "RSpec.describe PageHelper do it { shown_page(1) } end", "PageHelper.shown_page"),
        ("spec/a_spec.rb", "expect(page).to be", ""),
        ("spec/a_spec.rb", "sign_in(1)", "SignIn.sign_in"),
        ("app/run.rb", "sign_in(1)", ""),
        ("app/run.rb", "loose(1)", ""),  # of a test's own
        ("spec/a_spec.rb", "thing.faked", ""),
    ],
)
def test_a_name_alone_means_no_method_that_a_library_or_another_type_has(path, call, target):
    source = call if path.endswith("_spec.rb") else f"class Run < Base\n  def go\n    {call}\n  end\nend"
    calls = calls_in(project_of(SHOP | {path: f"{source}\n"}), path)
    assert [edge.target.partition(":")[2] for edge in calls] == ([target] if target else [])


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


@pytest.mark.parametrize(
    ("path", "before", "after", "call"),
    [
        # a receiver is named like a type that another name gave way to
        ("app/order.rb", "class Purchase\nend\n", "class Order\nend\n", "order.number"),
        # the project begins to use Rails, and its methods are then no sign of the project's
        ("app/application_record.rb", None, "class ApplicationRecord < ActiveRecord::Base\nend\n", "thing.save"),
    ],
)  # fmt: skip
def test_a_call_by_name_is_resolved_again_where_a_type_of_its_receivers_name_or_of_rails_appears(
    path, before, after, call
):
    card = "class CreditCard\n  def number; end\n  def save; end\nend\n"
    texts = {"app/card.rb": card, "spec/a_spec.rb": f"{call}\n"} | ({path: before} if before else {})
    project = project_of(texts)
    assert [edge.target for edge in calls_in(project, "spec/a_spec.rb")]
    assert "spec/a_spec.rb" in project.update({path: facts_in(path, after)})
    assert not calls_in(project, "spec/a_spec.rb")
