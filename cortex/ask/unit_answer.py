"""The answer of cortex_search for an agent: a map of the best functions, then the code of the first
of them, within one budget of tokens.

Functions are units (cortex/generation/units.py), ranked over the whole index. A definition or a
line that the question names stands first. A question about the effects of a change also gets the
uses of the definition that it names; a question about tests gets tests below the code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.code_pieces import Body, choose_pieces
from cortex.ask.current_lines import CurrentSpan, Span, read_spans
from cortex.ask.functions import Function
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.query_symbols import asks_for_users, find_cited, names_in
from cortex.ask.query_words import TermFinder, get_term_finder
from cortex.ask.questions import TOKEN_BYTES, Search
from cortex.ask.search import Lanes, ask_lanes, no_lane_error, rank_lanes
from cortex.ask.uses import find_uses
from cortex.ranking import read_question
from cortex.ranking.units import ScoredUnit, rank_units
from cortex.terms.paths import asks_for_tests, question_words
from ipc.messages import Place, UnitHits, UnitSearch, UnitsAt

#: hits of chunks, whose files and cosines count for their units; and units that are ranked
HITS, UNITS = 24, 80
#: lines of the map, and their bytes
MAP_LINES, MAP_BYTES = 10, 220 * TOKEN_BYTES
#: places up to which a document or a test of the first ranks stands in the map
ASIDE_PLACES = 3
#: tokens of an answer, unless the caller sets them
TOKENS = 900
#: units whose code is tried
SHOWN_MAX = 6
#: tests below the code, where the question asks for them
TESTS_MAX = 4
