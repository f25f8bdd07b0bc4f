"""The table of all operations of memory: the worker runs its rows, and fronts read there whether a
message is a write.
"""

import asyncio
import subprocess
import sys

import pytest

from cortex.ask.query_context import QueryContext
from cortex.memory.operations import OPERATIONS
from cortex.memory.table import ROWS, is_write
from cortex.settings.config import Config


class Recorder:
    """Records the operation of each call, and whether it is sent as a write."""

    def __init__(self):
        self.calls = []

    async def call(self, operation, arguments=None, *, operation_id="", writes):  # noqa: ARG002
        self.calls.append((operation, writes))
        return {}


def test_each_row_with_a_function_is_an_operation_of_the_library():
    assert set(OPERATIONS) == {name for name, row in ROWS.items() if row.function}
    assert set(ROWS) - set(OPERATIONS) == {"restore"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_with_a_number_is_a_write(name):
    assert is_write(name) == OPERATIONS[name].writes
    assert OPERATIONS[name].writes or not OPERATIONS[name].takes_number


def test_a_tool_sends_an_operation_as_the_table_says(tmp_path):
    recorder = Recorder()
    context = QueryContext(Config(root=tmp_path), None, None, 0.0, memory=recorder)
    for operation in ("undo", "stats", "restore", "observation.tag_observation", "observation.search"):
        asyncio.run(context.remember(operation))
    assert [writes for _, writes in recorder.calls] == [True, False, True, True, False]


def test_a_front_reads_the_table_without_the_modules_of_the_store():
    code = "import sys, cortex.memory.table; print({'sqlalchemy', 'tantivy', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
