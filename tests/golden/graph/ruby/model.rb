module Shop
  module Logs
    def log(text)
      log(text)
    end
  end

  class Base
    include Logs

    def close
      log("x")
      finish
    end

    def finish; end
  end

  class Item
    def touch
      self
    end
  end

  class Disk < Base
    def initialize(name)
      @first = Item.new
      @name = name
    end

    def self.open
      new("x")
    end

    def save(item)
      @first.touch.touch
      check(1)
      Disk.open.close
      second = Item.new
      second.touch
      item.each { |one| one.unknown_here }
    end

    def check(n)
      n > 0 ? check(n - 1) : 0
    end
  end
end
