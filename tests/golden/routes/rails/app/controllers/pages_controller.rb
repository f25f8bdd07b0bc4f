class PagesController < ApplicationController
  def home
  end

  def about
  end

  def terms
  end

  def search
  end

  def extra
  end
end
