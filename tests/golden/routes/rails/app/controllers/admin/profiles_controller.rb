module Admin
  class ProfilesController < ApplicationController
    def show
    end

    def update
    end
  end
end
