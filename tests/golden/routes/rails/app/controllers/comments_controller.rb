class CommentsController < ApplicationController
  def index
  end
end
