"""The progress of a first index on standard error, for a command that waits for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cortex.front.cli.rendering.render import Progress

if TYPE_CHECKING:  # only for types: other commands do not need it
    from cortex.ask.freshness import Freshness


@contextlib.contextmanager
def show_wait() -> Iterator[Callable[[Freshness], None]]:
    """Show the progress at each call, until the end of the `with`."""
    with Progress() as progress:

        def show(freshness: Freshness) -> None:
            state, share = freshness.progress(), freshness.share(freshness.current())
            if total := max(state.total, share.total):
                progress.follow(state.done if state.indexing else total, share.done, total)

        yield show
