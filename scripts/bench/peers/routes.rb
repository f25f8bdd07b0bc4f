# ruby routes.rb FOLDER: METHOD PATH controller#action
require "action_controller"; require "action_dispatch"
class Anything < BasicObject
  def method_missing(*a, **k, &b) = self
  def respond_to_missing?(*) = true
  def call(*) = [200, {}, []]
  def to_s = "any"; def to_str = "any"; def nil? = false; def !() = false
  def class = ::Object; def is_a?(c) = false; def matches?(*) = true; def respond_to?(*) = false; def hash = 1; def freeze = self
end
class Object; def self.const_missing(n); ::Object.const_set(n, Class.new { def self.method_missing(*a, **k, &b); b ? (b.call(nil) rescue nil) : self; end; def self.respond_to_missing?(*a) = false; def self.matches?(*a) = true; def self.call(*a) = [200,{},[]] }) ; end; end
$set = ActionDispatch::Routing::RouteSet.new
class ActionDispatch::Routing::Mapper
  def method_missing(n, *a, **k, &b) = (b && %i[devise_scope authenticate authenticated unauthenticated].include?(n)) ? instance_exec(&b) : nil
end
module Rails; class Railtie; end
  def self.application = (@a ||= Struct.new(:routes).new($set))
  def self.env = Struct.new(:development?, :test?, :production?).new(true, true, false)
  def self.root = Pathname.new(ARGV[0])
end
$dir = File.join(ARGV[0], "config")
load File.join($dir, "routes.rb")
$set.routes.each { |r| next if r.internal; d = r.defaults; v = r.verb.to_s; (v.empty? ? ["ANY"] : v.split("|")).each { |m| puts "#{m} #{r.path.spec.to_s.sub(/\(\.:format\)$/, "")} #{d[:controller]}##{d[:action]}" } }
