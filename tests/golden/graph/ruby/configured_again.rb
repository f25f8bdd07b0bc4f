describe "again" do
  it "weighs" do
    weigh(1)
    balance(2)
  end
end
