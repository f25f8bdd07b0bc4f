RSpec.configure do |config|
  def weigh(stream)
  end
end

module Scales
  def weigh(stream)
  end
end

describe "scales" do
  def balance(left)
  end

  it "weighs" do
    weigh(1)
    balance(2)
  end
end
