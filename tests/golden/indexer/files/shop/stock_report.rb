# frozen_string_literal: true

require "json"
require_relative "stock"

module Shop
  # Raised when an article is not known.
  class UnknownArticle < StandardError; end

  # Counts what is left on the shelves.
  class StockReport
    THRESHOLD = 5
    FORMATS = %i[text json].freeze

    attr_reader :warehouse

    def initialize(warehouse, threshold: THRESHOLD)
      @warehouse = warehouse
      @threshold = threshold
    end

    # Articles of which fewer than the threshold are left,
    # the scarcest first.
    def scarce
      warehouse.articles
               .select { |article| article.count < @threshold }
               .sort_by(&:count)
    end

    def render(format = :text)
      raise ArgumentError, "unknown format" unless FORMATS.include?(format)

      case format
      when :json then JSON.generate(scarce.map(&:to_h))
      else scarce.map(&:name).join("\n")
      end
    end

    def self.for(name)
      warehouse = Warehouse.find(name)
      raise UnknownArticle, name if warehouse.nil?

      new(warehouse)
    end

    class << self
      def default
        self.for("main")
      end
    end

    private

    def log(message)
      $stderr.puts(message)
    end
  end
end
