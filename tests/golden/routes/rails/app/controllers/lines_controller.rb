class LinesController < ApplicationController
  def index
  end

  def create
  end

  def destroy
  end

  def move
  end
end
