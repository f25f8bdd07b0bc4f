"""An event loop in a thread of its own: programs that block, or that have another loop, use it."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from cortex.system import hosts
from cortex.system.errors import Unavailable

T = TypeVar("T")

#: seconds that the last coroutine may take
CLOSE_S = 5.0


class LoopThread:
    """A running event loop; any thread of the process that made it may submit coroutines."""

    def __init__(self) -> None:
        self._loop = hosts.new_loop()
        self._loop.set_exception_handler(self._report)
        self._thread = threading.Thread(target=self._loop.run_forever, name="cortex-asking", daemon=True)
        self._thread.start()
        self._pid = os.getpid()

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report faults of this loop, but not the tasks that a forked child has copies of."""
        if os.getpid() == self._pid:
            loop.default_exception_handler(context)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin the coroutine. Raises Unavailable in a forked child, which has no such thread."""
        if os.getpid() != self._pid:
            coroutine.close()
            raise Unavailable("This process was forked from the one that opened this; open it again here.")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def end(self, last: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine, at most CLOSE_S, and end the loop. Does nothing in a forked child: it
        shares the descriptors of the parent's loop.
        """
        if os.getpid() != self._pid:
            last.close()
            return
        try:
            self.submit(last).result(CLOSE_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
