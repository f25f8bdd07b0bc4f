"""Small projects, and the uses of their definitions."""

import asyncio

from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import write


def ask(served, symbol, direction="callers", **more):
    return asyncio.run(uses(served.context(), UsesQuestion(symbol, direction, **more)))


def sites(block):
    """Return the places of a block, in its order."""
    return [f"{file['file']}:{site['line']}" for file in block["files"] for site in file["sites"]]


def serve_files(tmp_path_factory, serve, files):
    root = tmp_path_factory.mktemp("files")
    write(root, files)
    return serve(root)
