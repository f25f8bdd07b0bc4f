"""Models' spellings of a symbol, a place, a path, a filter or a literal, through the official
client: each is understood, and an answer that had to guess names its reading.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

pytestmark = pytest.mark.e2e

SHOP = {
    "src/shop/disk.py": '''"""Keeps what is sold on the disk."""


class Store:
    """A drawer of the shop."""

    def save(self, item):
        return self.flush(item)

    def flush(self, item):
        return item


def open_store(path):
    s = Store()
    return s.save(path)
''',
    "tests/test_disk.py": "from src.shop.disk import Store\n\n\ndef test_it_saves():\n    assert Store().save(1) == 1\n",
    "internal/store/store.go": """package store

// Store keeps orders.
type Store struct{ url string }

// Save writes one order.
func (s *Store) Save(order string) error {
	return s.send(order)
}

func (s *Store) send(order string) error { return post("http://localhost:8080/orders", order) }
""",
    "native/vault.cpp": """#include <vector>

namespace cellar {

// TODO: fix the lock order
template <typename T>
class Vault {
public:
    void lock(std::vector<int> keys) {
        turn(this->head->next, keys);
    }
};

void shut(int key) { key += 1; }

}
""",
    "crates/keep/src/shelf.rs": """pub struct Shelf<T> { items: Vec<T> }

impl<T> Shelf<T> {
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }
}

pub fn dust(level: u32) -> u32 { level + 1 }
""",
    "java/com/shop/Till.java": """package com.shop;

public class Till {
    private int total;

    public void ring(int price) {
        total += price;
    }
}
""",
    "web/basket.js": """export class Basket {
  addItem(item) {
    const found = this.items.find((one) => one.id === item.id);
    return found ?? item;
  }
}
""",
    "web/badge.ts": "export function drawBadge(count: number): string {\n  return `(${count})`;\n}\n",
    "lib/ledger.rb": "class Ledger\n  def post(entry)\n    @entries << entry\n  end\nend\n",
    "docs/drawers.md": "# Drawers\n\nThe Store keeps what `save` was given.\n",
}
PY, GO, CPP = "Store.save", "Store.Save", "cellar.Vault.lock"

#: spelling → (the name that it means, its file)
SYMBOLS = {
    "pkg.Store.save": (PY, "src/shop/disk.py"),
    "src.shop.disk.Store.save": (PY, "src/shop/disk.py"),
    "(*Store).Save": (GO, "internal/store/store.go"),
    "func (s *Store) Save(order string) error {": (GO, "internal/store/store.go"),
    "github.com/acme/shop/internal/store.(*Store).Save": (GO, "internal/store/store.go"),
    "Store::save": (PY, "src/shop/disk.py"),
    "s.save": (PY, "src/shop/disk.py"),
    "self.save": (PY, "src/shop/disk.py"),
    "save()": (PY, "src/shop/disk.py"),
    "def save(self, item):": (PY, "src/shop/disk.py"),
    "Store.save(item)": (PY, "src/shop/disk.py"),
    "Store->save": (PY, "src/shop/disk.py"),
    "Store#save": (PY, "src/shop/disk.py"),
    "`Store.save`": (PY, "src/shop/disk.py"),
    "store.go:7": (GO, "internal/store/store.go"),
    "internal/store/store.go:8:2": (GO, "internal/store/store.go"),
    "internal\\store\\store.go:8": (GO, "internal/store/store.go"),
    "Ledger#post": ("Ledger.post", "lib/ledger.rb"),
    "Basket.prototype.addItem": ("Basket.addItem", "web/basket.js"),
    "com.shop.Till.ring(int)": ("Till.ring", "java/com/shop/Till.java"),
    "cellar::Vault<int>::lock": (CPP, "native/vault.cpp"),
    "Vault<std::vector<int>>::lock(std::vector<int>)": (CPP, "native/vault.cpp"),
    "keep::shelf::Shelf<T>::push": ("Shelf.push", "crates/keep/src/shelf.rs"),
    "<keep::shelf::Shelf<u8>>::push": ("Shelf.push", "crates/keep/src/shelf.rs"),
    "_ZN6cellar5VaultIiE4lockESt6vectorIiSaIiEE": (CPP, "native/vault.cpp"),
    "_ZN6cellar4shutEi": ("cellar.shut", "native/vault.cpp"),
    "_ZN4keep5shelf4dust17h0123456789abcdefE": ("dust", "crates/keep/src/shelf.rs"),
    "_RNvNtCs4fqI2P2rA04_4keep5shelf4dust": ("dust", "crates/keep/src/shelf.rs"),
}
#: a whole stack frame, as printed → (the name, its file)
FRAMES = {
    '  File "/srv/app/src/shop/disk.py", line 8, in save\n    return self.flush(item)': SYMBOLS["s.save"],
    "github.com/acme/shop/internal/store.(*Store).Save(0xc000010000, {0x1, 0x2})\n\t/build/internal/store/store.go:8 +0x1d": (
        GO,
        "internal/store/store.go",
    ),
    "\tat com.shop.Till.ring(Till.java:7)": ("Till.ring", "java/com/shop/Till.java"),
    "    at Basket.addItem (/app/web/basket.js:3:19)": ("Basket.addItem", "web/basket.js"),
    "    at async Basket.addItem (file:///app/web/basket.js:3:19)": ("Basket.addItem", "web/basket.js"),
    "   3: keep::shelf::Shelf<T>::push\n             at ./crates/keep/src/shelf.rs:5:9": (
        "Shelf.push",
        "crates/keep/src/shelf.rs",
    ),
    "lib/ledger.rb:3:in 'Ledger#post'": ("Ledger.post", "lib/ledger.rb"),
    "\tfrom lib/ledger.rb:3:in `post'": ("Ledger.post", "lib/ledger.rb"),
}

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ask(shared_project) -> Iterator[Ask]:
    """Calls a tool of a front with a complete index; returns the answer, or {"refused":
    sentence}.
    """
    root = shared_project.root
    for name, text in SHOP.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    loop, stop, fronts = asyncio.new_event_loop(), asyncio.Event(), []
    opened = threading.Event()

    async def hold() -> None:
        try:
            async with shared_project.front() as front:
                await front.until_complete()
                fronts.append(front)
                opened.set()
                await stop.wait()
        finally:
            opened.set()

    thread = threading.Thread(target=loop.run_until_complete, args=(hold(),))
    thread.start()
    opened.wait()

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        future = asyncio.run_coroutine_threadsafe(fronts[0].session.call_tool(tool, arguments), loop)
        result = future.result(60)
        text = result.content[0].text
        answer: dict[str, Any] = {"refused": text} if result.is_error else orjson.loads(text)
        return answer

    try:
        assert fronts, "no front with a whole index"
        yield call
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture
def root(shared_project) -> str:
    return str(shared_project.root)


@pytest.mark.parametrize(("written", "meant"), [*SYMBOLS.items(), *FRAMES.items()])
@pytest.mark.parametrize("tool", ["cortex_graph", "cortex_explore", "find_related"])
def test_a_symbol_is_understood_in_any_spelling(ask, tool, written, meant):
    name, file = meant
    if tool == "cortex_graph":
        answer = ask(tool, operation="callees", target=written)
        assert answer["target"] == f"{file.rpartition('.')[0]}:{name}", answer
    elif tool == "cortex_explore":
        answer = ask(tool, query=written)
        assert any(
            (function["symbol"], function["file"]) == (name, file) for function in answer["functions"]
        ), answer
    else:
        answer = ask(tool, file=written)
        assert "target" in answer, answer
        assert (answer["target"]["file"], answer["target"]["symbols"]) == (file, [name])


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("STORE.SEND", "Store.send"),
        ("ledger.POST", "Ledger.post"),
        ("till.Ring", "Till.ring"),
        ("draw_badge", "drawBadge"),
        ("DrawBadge", "drawBadge"),
    ],
)
def test_a_name_in_the_wrong_case_is_understood_and_reported(ask, written, name):
    answer = ask("cortex_graph", operation="callees", target=written)
    assert answer["target"].endswith(f":{name}"), answer
    assert f"There is no {written!r}; read as " in answer["suggestion"]
    explored = ask("cortex_explore", query=written)
    assert any(function["symbol"] == name for function in explored["functions"])
    assert "read as" in explored["suggestion"]
    related = ask("find_related", file=written)
    assert related["target"]["symbols"] == [name]
    assert "read as" in related["suggestion"]


DISK = "src/shop/disk.py"
#: spellings of the path of one file; ROOT is the project's own
PATHS = [
    DISK,
    f"./{DISK}",
    f"ROOT/{DISK}",
    f"file://ROOT/{DISK}",
    f"src/../{DISK}",
    "src\\shop\\disk.py",
    ".\\src\\shop\\disk.py",
    "shop/disk.py",
    "shop\\disk.py",
    "disk.py",
    f"`{DISK}`",
    f"{DISK}:8",
    f"{DISK}:8:3",
    f"{DISK}#L8",
    "disk.py:8",
    f"ROOT/{DISK}:8",
    f"ROOT\\{DISK}".replace("/", "\\"),
    "SRC/Shop/Disk.py",
    f" {DISK} ",
]
#: tool, argument → its other arguments
ONE_PATH = {
    ("find_related", "file"): {},
    ("cortex_outline", "path"): {},
    ("cortex_graph", "target"): {"operation": "dependents"},
    ("cortex_explore", "query"): {},
}


def files_of(answer: dict[str, Any]) -> set[str]:
    """Return the files that an answer shows or is about."""
    if "target" in answer and isinstance(answer["target"], dict):
        return {answer["target"]["file"]}
    if "functions" in answer:
        return {answer["functions"][0]["file"]}
    hit_files = {hit["chunk"]["metadata"]["file_path"] for hit in answer["results"] if "chunk" in hit}
    places = (row for row in answer["results"] if "chunk" not in row)
    return hit_files | {row.get("file") or row["at"].rpartition(":")[0] for row in places}


@pytest.mark.parametrize("written", PATHS)
@pytest.mark.parametrize(("tool", "name"), ONE_PATH)
def test_a_path_is_understood_in_any_spelling(ask, root, tool, name, written):
    answer = ask(tool, **ONE_PATH[tool, name], **{name: written.replace("ROOT", root)})
    assert "refused" not in answer, answer
    if tool == "cortex_graph":
        assert answer["target"].startswith("src/shop/disk"), answer
    else:
        assert files_of(answer) == {DISK}, answer


#: tool, argument that keeps or drops files → a query with hits in DISK and in other files
GLOBS = {
    ("cortex_exact", "paths"): {"query": "store"},
    ("cortex_exact", "exclude_paths"): {"query": "store"},
    ("cortex_search", "paths"): {"query": "store"},
    ("cortex_search", "exclude_paths"): {"query": "store"},
    ("cortex_pattern", "paths"): {"pattern": "Store()", "language": "python"},
    ("cortex_pattern", "exclude_paths"): {"pattern": "Store()", "language": "python"},
    ("cortex_graph", "scope"): {"operation": "callers", "target": "src/shop/disk:Store.save"},
    ("cortex_graph", "exclude_patterns"): {"operation": "callers", "target": "src/shop/disk:Store.save"},
}
#: further globs that keep or drop the same file
SAME_FILE = ["/src", "/src/", "/src/**", "src/shop", "src/shop/", "./src/shop/", "ROOT/src", "src\\shop", "**/disk.py",
             "*/shop/*.py", "SRC/shop/**", "{src,source}/shop/**"]  # fmt: skip


@pytest.mark.parametrize(("tool", "name"), GLOBS)
def test_without_a_filter_of_paths_more_files_are_found(ask, tool, name):
    unfiltered = files_of(ask(tool, **GLOBS[tool, name]))
    assert DISK in unfiltered
    assert len(unfiltered) > 1


@pytest.mark.parametrize("written", [*PATHS, *SAME_FILE])
@pytest.mark.parametrize(("tool", "name"), GLOBS)
def test_a_filter_of_paths_is_understood_in_any_spelling(ask, root, tool, name, written):
    filtered = files_of(ask(tool, **GLOBS[tool, name], **{name: written.replace("ROOT", root)}))
    if name in ("paths", "scope"):
        assert filtered == {DISK}
    else:
        assert filtered
        assert DISK not in filtered


@pytest.mark.parametrize("written", ["", ".", "./", "/", "ROOT", "ROOT/", "*", "**", "**/*"])
@pytest.mark.parametrize(("tool", "name"), [key for key in GLOBS if key[1] in ("paths", "scope")])
def test_the_whole_project_is_no_filter_in_any_spelling(ask, root, tool, name, written):
    question = GLOBS[tool, name]
    assert files_of(ask(tool, **question, **{name: written.replace("ROOT", root)})) == files_of(
        ask(tool, **question)
    )


@pytest.mark.parametrize("written", ["", ".", "./", "/", "ROOT", "ROOT/", ".\\"])
def test_the_whole_project_is_outlined_in_any_spelling(ask, root, written):
    assert len(files_of(ask("cortex_outline", path=written.replace("ROOT", root)))) > 5


@pytest.mark.parametrize(
    "written", ["src", "src/", "./src", "ROOT/src/", "src/shop", "src\\shop", "SRC", "Src/Shop"]
)
def test_a_folder_is_outlined_in_any_spelling(ask, root, written):
    assert files_of(ask("cortex_outline", path=written.replace("ROOT", root))) == {DISK}


@pytest.mark.parametrize(
    "written",
    [
        ["src/**", "lib/**"],
        '["src/**", "lib/**"]',
        "['src/**', 'lib/**']",
        "src/**, lib/**",
        "src/**,lib/**",
        "src/**\nlib/**",
        "{src,lib}/**",
    ],
)
def test_a_list_is_taken_as_json_as_commas_and_as_lines(ask, written):
    question = {"query": "save OR post", "paths": written}
    assert files_of(ask("cortex_exact", **question)) == {DISK, "lib/ledger.rb"}


@pytest.mark.parametrize(
    ("tool", "spelled", "other"),
    [
        ("cortex_search", {"limit": "2", "explain": "true", "min_score": "0.1"}, {"limit": 2, "explain": True, "min_score": 0.1}),
        ("cortex_search", {"limit": 2.0, "chunk_types": "Code"}, {"limit": 2, "chunk_types": ["code"]}),
        ("cortex_search", {"mode": "HYBRID", "tags": None, "paths": "null"}, {}),
        ("cortex_exact", {"match_type": "Prefix", "limit": "3", "query": "ledg"}, {"match_type": "prefix", "limit": 3, "query": "ledg"}),
        ("cortex_search", {"tags": "golang"}, {"tags": ["go"]}),
        ("cortex_search", {"tags": "js"}, {"tags": ["javascript"]}),
        ("cortex_search", {"tags": "ts"}, {"tags": ["typescript"]}),
        ("cortex_search", {"tags": "tests"}, {"tags": ["test"]}),
        ("code_context", {"lang": "golang", "k": "3"}, {"lang": "go", "k": 3}),
        ("code_context", {"lang": "js"}, {"lang": "javascript"}),
        ("code_context", {"lang": "ts"}, {"lang": "typescript"}),
    ],
)  # fmt: skip
def test_arguments_are_accepted_in_any_type(ask, tool, spelled, other):
    answers = [
        ask(tool, **{"query": "save a store badge item"} | arguments) for arguments in (spelled, other)
    ]
    for answer in answers:
        assert answer.get("results") or answer.get("hits"), answer
        answer.get("metadata", {}).pop("took_ms", 0)
        answer.pop("query_time_ms", 0)
    assert answers[0] == answers[1]


def test_all_arguments_in_one_json_text_are_taken(ask):
    answer = ask(
        "cortex_graph", operation='"callers"', target="`Store.save`", depth="2", include_context="false"
    )
    assert answer["target"] == "src/shop/disk:Store.save"
    assert answer["results"][0]["text"]
    assert "\n" not in answer["results"][0]["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("cortex_exact", {"query": "save", "paths": "nowhere"}, 'paths=["nowhere"]; without it'),
        ("cortex_exact", {"query": "save", "tags": "haskell"}, 'tags=["haskell"]; without it'),
        ("cortex_search", {"query": "save", "chunk_types": "data", "paths": "lib"}, "without"),
        ("code_context", {"query": "save", "lang": "haskell"}, 'lang="haskell"; without it'),
        ("cortex_graph", {"operation": "callers", "target": DISK + ":Store.save", "scope": "lib/**"}, 'scope="lib/**"; without it'),
        ("cortex_pattern", {"pattern": "Store()", "language": "py", "paths": "lib"}, 'paths=["lib"]; without it'),
    ],
)  # fmt: skip
def test_a_filter_that_removes_everything_is_named(ask, tool, arguments, sentence):
    answer = ask(tool, **arguments)
    assert sentence in answer["suggestion"], answer
    assert re.search(r"there would be [1-9]", answer["suggestion"])


#: a literal → a file that holds it
LITERALS = {
    "http://localhost:8080": "internal/store/store.go",
    "http://localhost:8080/orders": "internal/store/store.go",
    "TODO: fix": "native/vault.cpp",
    "TODO: fix the lock order": "native/vault.cpp",
    "std::vector<int>": "native/vault.cpp",
    "std::vector<int> keys": "native/vault.cpp",
    "this->head": "native/vault.cpp",
    "head->next": "native/vault.cpp",
    "self.items.push(item)": "crates/keep/src/shelf.rs",
    "&mut self": "crates/keep/src/shelf.rs",
    "one.id === item.id": "web/basket.js",
    "found ?? item": "web/basket.js",
    "(one) => one.id": "web/basket.js",
    "`(${count})`": "web/badge.ts",
    "@entries << entry": "lib/ledger.rb",
    "total += price": "java/com/shop/Till.java",
    "def save(self, item):": DISK,
    "return s.save(path)": DISK,
    "func (s *Store) Save(order string) error {": "internal/store/store.go",
    "#include <vector>": "native/vault.cpp",
    "import Store": "tests/test_disk.py",
}


@pytest.mark.parametrize(("written", "file"), LITERALS.items())
def test_a_literal_is_found_as_it_is_written(ask, written, file):
    answer = ask("cortex_exact", query=written)
    assert "refused" not in answer, answer
    assert answer["results"], answer
    assert answer["results"][0]["chunk"]["metadata"]["file_path"] == file, answer


@pytest.mark.parametrize(
    "written",
    [
        "http://localhost:8080",
        "TODO: fix",
        "std::vector<int>",
        "this->head",
        "one.id === item.id",
        "total += price",
    ],
)
def test_an_answer_says_when_a_query_was_read_as_a_literal(ask, written):
    assert f"the literal text `{written}`" in ask("cortex_exact", query=written)["suggestion"]


#: tool → arguments that name one path
ARGUMENTS = {
    "cortex_graph": lambda path: {"operation": "dependents", "target": path},
    "cortex_outline": lambda path: {"path": path},
    "cortex_explore": lambda path: {"query": path},
    "cortex_read": lambda path: {"places": [path], "format": "json"},
    "cortex_uses": lambda path: {"symbol": path, "format": "json"},
    "find_related": lambda path: {"file": path},
    "cortex_exact": lambda path: {"query": "send", "paths": [path]},
}


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_a_path_that_is_not_there_is_not_there_in_every_tool(ask, tool):
    answer = ask(tool, **ARGUMENTS[tool]("models/nothing.py"))
    text = orjson.dumps(answer).decode()
    assert "models/nothing.py" in text
    assert "read as" not in text
    if tool != "cortex_explore":  # its search follows the sentence
        assert not any(
            answer.get(name) for name in ("results", "code", "sites", "target") if name != "target"
        )
    if tool != "cortex_exact":
        assert "There is no file" in text or "There is no 'models" in text


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_a_file_that_is_left_out_is_said_to_be_in_every_tool(ask, shared_project, tool):
    (shared_project.root / "large.py").write_text("X = 1\n" * 300_000)
    try:
        text = orjson.dumps(ask(tool, **ARGUMENTS[tool]("large.py"))).decode()
    finally:
        (shared_project.root / "large.py").unlink()
    assert "large.py is there, but left out because it is larger than 1024 kB; indexing.max_file_kb" in text
