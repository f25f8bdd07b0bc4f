module Api
  module V1
    class OrdersController < ApplicationController
      def index
      end

      def import
      end
    end
  end
end
