"""The way of a keyword query through the code, as a reader follows it: the modules of the query
language and of the text engine in the order in which their functions are first called.
"""

import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from ipc.messages import ExactSearch
from tests.engines.test_text_search import SAMPLE, open_chunks

ROOT = Path(__file__).parents[2]
ROOMS = tuple(str(ROOT / "cortex" / room) for room in ("query", "engines/text"))
#: times that a reader may come back to a module
RETURNS_MAX = 13


def find_way(snapshot, request):
    """The modules that `snapshot` passes through to answer, each as often as it is entered for a
    function that was not called before. Methods of values, such as `take`, are not counted.
    """
    called, way = set(), []

    def follow(frame, event, _argument):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOMS) or code in called:
            return
        called.add(code)
        owner = frame.f_globals.get(code.co_qualname.partition(".")[0])
        if code.co_qualname.endswith(">") or (is_dataclass(owner) and isinstance(owner, type)):
            return
        if way[-1:] != [code.co_filename]:
            way.append(code.co_filename)

    sys.setprofile(follow)
    try:
        snapshot.search(request)
    finally:
        sys.setprofile(None)
    return way


@pytest.mark.parametrize("query", ["error handling", "AuthHandler", '"error handling"', "zzz"])
@pytest.mark.parametrize("shown", [{"lines": 10}, {"lines": 10, "every": True}, {"limit": 10}])
def test_a_question_by_words_seldom_comes_back_to_a_module(tmp_path, query, shown):
    way = find_way(open_chunks(tmp_path, SAMPLE), ExactSearch(query, generation=1, **shown))
    assert len(way) > 10

    assert len(way) - len(set(way)) <= RETURNS_MAX, [Path(module).stem for module in way]
