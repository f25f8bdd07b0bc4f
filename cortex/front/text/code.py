"""Answers about code as text."""

from __future__ import annotations

from cortex.front.text.parts import Drawer

DRAWERS: dict[str, Drawer] = {}
