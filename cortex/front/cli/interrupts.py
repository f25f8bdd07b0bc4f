"""Ctrl-C while the program still imports its modules, or ends already: no traceback.

The import of this module sets the hooks, so the entry point imports it before all others.
"""

from __future__ import annotations

import sys
from types import TracebackType


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _report_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def set_hooks() -> None:
    """Let the interpreter print nothing about a KeyboardInterrupt that nobody catches."""
    sys.excepthook = _report
    sys.unraisablehook = _report_unraisable


set_hooks()
