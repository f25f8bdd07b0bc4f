class ApplicationController < ActionController::Base
  def help
  end
end
