"""Questions that configuration, a style or a document answers better than any function."""

import pytest

from tests.ask.searched import ask, write

WORKFLOW = """name: Test
on: [push]
jobs:
  integration:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - name: run the integration suite
        run: make integration
"""
SERVICES = """services:
  cache:
    image: valkey
    volumes:
      - ./cache.conf:/etc/cache.conf
    healthcheck:
      interval: 30s
      retries: 5
"""
STYLE = """.loader.is-loading {
  position: relative;
  pointer-events: none;
  opacity: .5;
}
@keyframes loading-spinner {
  to { transform: rotate(360deg); }
}
"""
FILES = {
    ".github/workflows/test.yml": WORKFLOW,
    "compose.yml": SERVICES,
    "web/loading.scss": STYLE,
    "src/work.py": "".join(
        f"def step_{word}(value):\n    {word} = value + 1\n    return {word}\n\n\n"
        for word in ("open", "read", "close", "wait", "send", "lock", "sort", "merge", "split", "join")
    ),
    "src/suite.py": "def run_suite(tests):\n    for test in tests:\n        test.run()\n",
    "src/health.py": "def check_health(cache):\n    return cache.ping()\n",
}


@pytest.fixture(scope="module")
def loose(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("loose")
    write(root, FILES)
    return serve(root)


@pytest.mark.parametrize(
    ("question", "file", "line"),
    [
        (
            "timeout-minutes of the integration suite in the workflow",
            ".github/workflows/test.yml",
            "timeout-",
        ),
        ("healthcheck interval and retries of the cache service", "compose.yml", "interval: 30s"),
        ("loading spinner style with opacity and pointer-events", "web/loading.scss", "opacity: .5"),
    ],
)
def test_the_best_piece_without_a_definition_comes_with_its_lines(loose, question, file, line):
    answer = ask(loose, question)
    assert answer["map"][0]["file"] == file
    assert answer["code"][0]["file"] == file
    assert line in "\n".join(piece["text"] for piece in answer["code"][0]["pieces"])


def test_code_comes_first_where_it_answers(loose):
    answer = ask(loose, "where is the health of the cache checked")
    assert answer["map"][0]["file"] == answer["code"][0]["file"] == "src/health.py"
