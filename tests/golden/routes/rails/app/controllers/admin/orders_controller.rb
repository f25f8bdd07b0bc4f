class Admin::OrdersController < ApplicationController
  def index
  end

  def destroy
  end
end
