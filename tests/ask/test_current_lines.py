"""Lines of spans as their files are now, over projects that are indexed and then changed."""

import asyncio

import pytest

from cortex.ask.lines.current_lines import Span, read_spans
from ipc.messages import SourceLines

STORE = '''"""A store."""

import json


class Store:
    def __init__(self, path):
        self.path = path
        self.kept = {}

    def load(self):
        with open(self.path) as file:
            self.kept = json.load(file)

    def close(self):
        self.kept.clear()
        self.path = ""


class Cache:
    def __init__(self):
        self.kept = {}

    def close(self):
        self.kept.clear()
        self.path = ""
'''
LINES = STORE.split("\n")
LOAD, CLOSE, OTHER_CLOSE = (11, 13), (15, 17), (24, 26)


@pytest.fixture(scope="module")
def project(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("project")
    (root / "store.py").write_text(STORE)
    (root / "other.py").write_text("def other():\n    return 1\n")
    return serve(root), root


@pytest.fixture
def read(project):
    served, root = project

    def ask(text, *spans, path="store.py"):
        if text is not None:
            (root / "store.py").write_text(text)
        return _ask(served, [Span(path, *span) for span in spans])

    yield ask
    (root / "store.py").unlink(missing_ok=True)
    (root / "store.py").write_text(STORE)


def _ask(served, spans):
    async def run():
        _, current = await served.context().attempt(lambda turn: read_spans(turn, spans))
        return current

    return asyncio.run(run())


def places(spans):
    return [(span.start, span.end) for span in spans]


def test_spans_of_unchanged_files_are_the_indexed_lines_with_one_request(project):
    wanted = [Span("store.py", *LOAD), Span("other.py", 1, 2), Span("store.py", 1, 99), Span("none.py", 1, 2)]
    project[0].requests.clear()
    spans = _ask(project[0], wanted)
    assert [type(request) for request in project[0].requests] == [SourceLines]
    assert spans[0].lines == tuple(LINES[10:13])
    assert spans[1].text == "def other():\n    return 1"
    assert (spans[2].start, spans[2].end) == (1, 26)
    assert spans[3].lines == ()
    assert not any(span.stale or span.moved or span.gone for span in spans)


def test_lines_below_an_insertion_have_their_new_numbers(read):
    text = STORE.replace("import json\n", "import json\nimport os\nimport sys\n")
    spans = read(text, LOAD, CLOSE, OTHER_CLOSE)
    assert places(spans) == [(13, 15), (17, 19), (26, 28)]
    assert all(span.moved and not span.stale for span in spans)
    assert [span.lines for span in spans] == [tuple(LINES[a - 1 : b]) for a, b in (LOAD, CLOSE, OTHER_CLOSE)]


def test_lines_above_a_change_stay_as_they_are(read):
    (span,) = read(STORE.replace("class Cache", "class Cached"), LOAD)
    assert (span.start, span.end, span.moved, span.stale) == (*LOAD, False, False)


@pytest.mark.parametrize("place", [CLOSE, OTHER_CLOSE])
def test_equal_functions_are_told_apart_by_the_lines_around_them(read, place):
    first, second = STORE.split("\n\nclass Cache")
    text = f"{first.replace('self.kept = {}', 'self.kept = {}; self.x = 1')}\n\n\n\nX = 1\n\n\nclass Cache{second}"
    (span,) = read(text, place)
    shift = 5 if place == OTHER_CLOSE else 0
    assert (span.start, span.end) == (place[0] + shift, place[1] + shift)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("json.load(file)\n", "json.load(file, object_hook=dict)\n", (11, 13)),  # the last line
        ("    def load(self):", "    def load(self, path=None):", (11, 13)),  # the first
        ("json.load(file)\n", "json.load(file)\n        self.loaded = True\n", (11, 14)),  # one more
        ("        with open(self.path)", "        self.check()\n        with open(self.path)", (11, 14)),
        ('"""A store."""\n', '"""A store."""\n\n# a note\n', (13, 15)),
    ],
)
def test_a_changed_function_is_shown_as_it_is_now(read, old, new, expected):
    text = STORE.replace(old, new, 1)
    (span,) = read(text, LOAD)
    assert (span.start, span.end) == expected
    assert span.lines == tuple(text.split("\n")[expected[0] - 1 : expected[1]])
    assert not span.stale


def test_lines_that_are_not_there_any_more_are_marked(read):
    begin, end = STORE.index("    def load"), STORE.index("    def close")
    spans = read(STORE[:begin] + STORE[end:], LOAD, CLOSE)
    assert (spans[0].stale, spans[0].gone, spans[0].lines) == (True, False, tuple(LINES[10:13]))
    assert (spans[1].stale, spans[1].start) == (False, 11)


def test_a_file_that_was_removed_is_gone(read, project):
    (project[1] / "store.py").unlink()
    (span,) = read(None, LOAD)
    assert (span.gone, span.stale, span.lines) == (True, True, tuple(LINES[10:13]))


def test_a_file_that_became_a_link_is_not_followed(read, project, tmp_path):
    (tmp_path / "secret.py").write_text(STORE.replace("json.load(file)", "'from outside'"))
    (project[1] / "store.py").unlink()
    (project[1] / "store.py").symlink_to(tmp_path / "secret.py")
    (span,) = read(None, LOAD)
    assert span.stale
    assert span.lines == tuple(LINES[10:13])


def test_a_file_that_became_binary_is_stale(read, project):
    (project[1] / "store.py").write_bytes(b"\0" + STORE.encode())
    (span,) = read(None, LOAD)
    assert span.stale


@pytest.mark.parametrize("path", ["../store.py", "/etc/passwd", "x/../store.py"])
def test_a_path_that_the_index_does_not_hold_has_no_lines(project, path):
    (span,) = _ask(project[0], [Span(path, 1, 3)])
    assert span.lines == ()
