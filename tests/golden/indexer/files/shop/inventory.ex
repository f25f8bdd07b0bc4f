defmodule Shop.Inventory do
  @moduledoc """
  Counts the articles of a shop.
  """

  use GenServer
  import Ecto.Query
  alias Shop.{Article, Repo}

  @low_stock 5
  @type count :: non_neg_integer()

  defstruct articles: %{}, changed: false

  @doc """
  Starts the counter of one warehouse.
  """
  def start_link(opts) do
    GenServer.start_link(__MODULE__, opts, name: __MODULE__)
  end

  @doc "Takes `count` pieces from the shelf."
  @spec take(String.t(), count) :: :ok | {:error, atom}
  def take(name, count) when count > 0 do
    GenServer.call(__MODULE__, {:take, name, count})
  end

  def low?(article), do: article.count < @low_stock

  @impl true
  def handle_call({:take, name, count}, _from, state) do
    case Map.fetch(state.articles, name) do
      {:ok, left} when left >= count ->
        {:reply, :ok, put_in(state.articles[name], left - count)}

      {:ok, _} ->
        {:reply, {:error, :scarce}, state}

      :error ->
        {:reply, {:error, :unknown}, state}
    end
  end

  # Only for the shell.
  defp debug(state) do
    IO.inspect(state)
  end

  defmacro locked(do: block) do
    quote do
      :global.trans({:stock, self()}, fn -> unquote(block) end)
    end
  end
end

defprotocol Shop.Countable do
  def count(thing)
end

defimpl Shop.Countable, for: Shop.Article do
  def count(article), do: article.count
end
