class OrdersController < ApplicationController
  def index
  end

  def create
  end

  def pay
  end

  def recent
  end

  def refund
  end

  def audit
  end
end
