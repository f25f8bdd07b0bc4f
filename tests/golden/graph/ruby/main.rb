require_relative "model"

class Main < Shop::Base
  def run(unknown)
    disk = Shop::Disk.new("y")
    disk.save(1)
    disk.close
    unknown.save(2)
    helper(3)
  end

  def helper(value)
    Shop::Item.new.touch
  end
end
