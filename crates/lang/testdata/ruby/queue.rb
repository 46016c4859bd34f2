# frozen_string_literal: true

require "set"

# Things that wait.
module Waiting
  # The most items.
  LIMIT = 64

  # Items in order.
  #
  # Not safe for threads.
  class Queue < Base
    NAMES = %w[a b].freeze
    attr_reader :items

    def initialize(limit: LIMIT)
      @items = []
    end

    # Adds an item.
    def push(item)
      return false if full?
      @items << item
    end

    def full? = @items.size >= LIMIT

    class << self
      def build(*args)
        new(*args)
      end
    end

    def self.open(path)
      new
    end

    private

    def []=(index, value)
      @items[index] = value
    end
  end

  class Error < StandardError; end
end

class Waiting::Later
end
