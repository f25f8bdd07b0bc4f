"""A small shop for questions to explore, in Python, and how it is asked."""

import asyncio

import orjson

from cortex.ask.exploring.explore import explore
from cortex.ask.questions import Explore

SHOP = {
    "shop/server.py": '''"""Takes raw requests from the network."""

from shop.router import Router


class Server:
    """Answers the requests of browsers."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def serve(self, raw: str) -> str:
        """Serve one raw request."""
        method, path = raw.split(" ")
        return self.router.dispatch(method, path)
''',
    "shop/router.py": '''"""Routes."""

from shop.tree import Tree


class Router:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def dispatch(self, method: str, path: str) -> str:
        found = self.tree.lookup(path)
        if found is None:
            return "404"
        return found
''',
    "shop/tree.py": '''"""The tree of paths."""


class Tree:
    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}

    def lookup(self, path: str) -> str | None:
        """Look up the handler of a path in the tree, the longest prefix first."""
        while path:
            if path in self.nodes:
                return self.nodes[path]
            path = path.rpartition("/")[0]
        return None
''',
    "shop/main.py": """from shop.router import Router
from shop.server import Server
from shop.tree import Tree


def main(line: str) -> str:
    server = Server(Router(Tree()))
    return server.serve(line)
""",
    "shop/prices.py": '''"""Prices of goods, with their taxes."""


def total_price(net: float, tax: float) -> float:
    """The price that a customer pays."""
    return round_price(net + net * tax)


def round_price(value: float) -> float:
    """Round a price to cents."""
    return round(value, 2)
''',
    "tests/test_tree.py": """from shop.tree import Tree


def test_the_longest_prefix_is_found():
    tree = Tree()
    assert tree.lookup("/none") is None
""",
    "tests/test_prices.py": """from shop.prices import total_price


def test_taxes_are_added():
    assert total_price(1.0, 0.5) == 1.5
""",
    "docs/routing.md": "# Routing\n\nA request is dispatched by `Router.dispatch`; `Tree.lookup` finds the handler.\n",
}


QUESTION = "how does the server serve a raw request and look up the handler of its path in the tree"


def ask(served, query="", **more):
    return orjson.loads(orjson.dumps(asyncio.run(explore(served.context(), Explore(query, **more)))))


def symbols(answer):
    return [entry["symbol"] for entry in answer["functions"]]
