"""Resolution of targets: any spelling of a name, a path, a line."""

import orjson
import pytest

from cortex.engines.graph.arrays import Names
from cortex.engines.graph.lookup.nearest import READ_MAX
from cortex.terms.ids import key_of
from tests.engines.small_graph import ask, ids, open_graph, publish, serve_files, serve_graph, write_graph


@pytest.mark.parametrize(
    "target",
    [
        "app/store:Disk.save",
        "Disk.save",
        "app.store.Disk.save",
        "store:Disk.save",
        "Disk::save",
        "store/Disk.save",
    ],
)
def test_any_unique_end_of_an_id_is_a_target(worker, target):
    assert ask(worker, "callers", target)[0].target == "app/store:Disk.save"


def test_a_file_is_a_target_by_its_path(worker):
    assert ids(worker, "dependents", "app/store.py") == ["app/main"]
    assert ids(worker, "dependencies", "app/main.py") == ["app/store"]
    assert ids(worker, "dependents", "app/store.py", depth=2) == ["app/main", "tests/test_main"]
    assert ids(worker, "dependencies", "tests/test_main.py", depth=2) == ["app/main", "app/store"]
    assert ids(worker, "callers", "app/main.py") == ["tests/test_main:test_main"]
    assert ids(worker, "dependencies", "lonely.py") == []
    assert "No edge leads from lonely" in ask(worker, "dependencies", "lonely.py")[0].suggestion


def test_the_meaning_in_main_code_is_preferred_and_the_others_are_listed(config):
    worker = serve_graph(
        config,
        [
            ("src/echo", "module", "src/echo.py"),
            ("src/echo:echo", "function", "src/echo.py"),
            ("tests/test_echo:main", "function", "tests/test_echo.py"),
            ("tests/test_echo:main.echo", "function", "tests/test_echo.py"),
            ("tests/test_echo:Box", "class", "tests/test_echo.py"),
            ("src/echo:Box", "class", "src/echo.py"),
            ("src/echo:Box.Box", "method", "src/echo.py"),
            ("src/one:twin", "function", "src/one.py"),
            ("src/two:twin", "function", "src/two.py"),
            ("dist/one:bundled", "function", "dist/one.js"),
            ("lib/one:bundled", "function", "lib/one.js"),
        ],
    )
    for target, meant, others in [
        ("echo", "src/echo:echo", ()),
        ("src/echo.py", "src/echo", ()),
        ("src/echo.py:echo", "src/echo:echo", ()),
        ("src/echo.py::Box", "src/echo:Box", ()),
        ("main.echo", "tests/test_echo:main.echo", ()),
        ("Box", "src/echo:Box", ("tests/test_echo:Box",)),
        ("twin", "", ("src/one:twin", "src/two:twin")),
        ("bundled", "lib/one:bundled", ("dist/one:bundled",)),
    ]:
        hits, _ = ask(worker, "callers", target)
        assert (hits.target, hits.candidates) == (meant, others), target
    assert "Also called 'Box': tests/test_echo:Box." in ask(worker, "callers", "Box")[0].suggestion


def test_several_meanings_are_listed_and_none_is_guessed(worker):
    hits, results = ask(worker, "callers", "save")
    assert results == []
    assert hits.candidates == ("app/store:Disk.save", "app/store:Store.save")
    assert "any of 2" in hits.suggestion


def test_an_unknown_name_brings_the_nearest(worker):
    hits, _ = ask(worker, "callers", "chekc")
    assert "app/store:check" in hits.candidates


@pytest.mark.parametrize("target", ["", "  ", ":::", "~2", "\ud800", "x" * 5000, "a/../../b"])
def test_odd_targets_are_answered_with_a_sentence(worker, target):
    hits, results = ask(worker, "callers", target)
    assert (results, hits.total_found) == ([], 0)
    assert hits.suggestion.endswith(".")


def test_a_name_in_another_case_is_found_and_the_answer_says_so(worker):
    for target in ("disk.Save", "DISK.SAVE", "disk.save"):
        hits, results = ask(worker, "callers", target)
        assert [row["node"]["id"] for row in results] == ["app/main:main"]
        assert hits.target == "app/store:Disk.save"
        assert f"There is no {target!r}; read as app/store:Disk.save" in hits.suggestion


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("Disk.save()", "app/store:Disk.save"),
        ("Disk#save", "app/store:Disk.save"),
        ("(*Disk).save", "app/store:Disk.save"),
        ("store.(*Disk).save", "app/store:Disk.save"),
        ("Disk->save(item)", "app/store:Disk.save"),
        ("Disk<T>::save", "app/store:Disk.save"),
        ("Disk[str, int].save", "app/store:Disk.save"),
        ("def check(item):", "app/store:check"),
        ("self.check(item)", "app/store:check"),
        ("`check`", "app/store:check"),
        ("_ZN4Disk4saveEv", "app/store:Disk.save"),
        ("store.py:8", "app/store:Disk.save"),
        ("./app/store.py:8:3", "app/store:Disk.save"),
        ("app\\store.py:8", "app/store:Disk.save"),
        ("/somewhere/else/app/store.py#L8", "app/store:Disk.save"),
        ('  File "/srv/app/store.py", line 8, in save', "app/store:Disk.save"),
        ("    at Disk.save (/srv/app/store.py:8:11)", "app/store:Disk.save"),
        ("store.py", "app/store"),
        ("./app/store.py", "app/store"),
        ("store.py:Disk.save", "app/store:Disk.save"),
        ("app/store.py::Disk::save", "app/store:Disk.save"),
    ],
)
def test_a_target_is_understood_in_any_spelling(worker, target, meant):
    hits, _ = ask(worker, "callees", target)
    assert hits.target == meant
    assert "There is no" not in hits.suggestion


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("disk.save", "app/store:Disk.save"),
        ("DISK.SAVE", "app/store:Disk.save"),
        ("store.disk.Save()", "app/store:Disk.save"),
        ("d.check", "app/store:check"),
        ("os.path.check(item)", "app/store:check"),
        ("test_Main", "tests/test_main:test_main"),
        ("testMain", "tests/test_main:test_main"),
    ],
)
def test_a_guess_at_a_target_says_what_it_was_read_as(worker, target, meant):
    hits, _ = ask(worker, "callees", target)
    assert hits.target == meant
    assert hits.suggestion.startswith(f"There is no {target!r}; read as {meant}.")


def test_a_guess_that_may_be_several_lists_them(worker):
    hits, results = ask(worker, "callers", "s.save")
    assert results == []
    assert hits.candidates == ("app/store:Disk.save", "app/store:Store.save")
    assert "ask again with one of" in hits.suggestion


def test_a_line_outside_of_all_definitions_means_the_file(worker):
    hits = ask(worker, "dependents", "app/store.py:4")[0]
    assert hits.target == "app/store"
    assert "Line 4 is in no definition; read as the whole file." in hits.suggestion


@pytest.mark.parametrize(
    ("operation", "meant"), [("callers", "disk:disk"), ("impact", "disk:disk"), ("dependents", "disk")]
)
def test_a_function_is_preferred_over_its_file_except_for_file_operations(config, operation, meant):
    nodes = [("disk", "module", "disk.py"), ("disk:disk", "function", "disk.py")]
    assert ask(serve_graph(config, nodes), operation, "disk")[0].target == meant


@pytest.fixture(scope="module")
def apart(new_config):
    """A type, its method in another file, a function of its name, and two files with one name."""
    config = new_config()
    data = {
        "nodes": [
            {"id": name, "kind": kind, "file": file, "start_line": first, "end_line": last}
            for name, kind, file, first, last in [
                ("db/store", "module", "db/store.go", 1, 20),
                ("db/store:Disk", "struct", "db/store.go", 3, 9),
                ("db/flags", "module", "db/flags.go", 1, 40),
                ("db/flags:mark", "function", "db/flags.go", 1, 9),
                ("db/flags:Disk.mark", "method", "db/flags.go", 11, 19),
                ("one/store", "module", "one/store.go", 1, 90),
                ("one/store:late", "function", "one/store.go", 70, 80),
                ("two/store", "module", "two/store.go", 1, 90),
                ("two/store:late", "function", "two/store.go", 70, 80),
                # the name with the highest key is the last: no answer may depend on its kind
                (max((f"z:f{n}" for n in range(1000)), key=key_of), "function", "z.go", 1, 9),
            ]
        ],
        "edges": [],
    }
    config.graph_dir.mkdir(parents=True)
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(data))
    publish(config)
    return open_graph(config)


def test_a_method_beside_a_function_of_its_name_is_listed_although_its_type_is_elsewhere(apart):
    assert ask(apart, "callers", "mark")[0].candidates == ("db/flags:mark", "db/flags:Disk.mark")


@pytest.mark.parametrize("target", ["#mark", ".mark", "#mark(a, b)", "Disk#mark"])
def test_a_target_written_as_a_member_prefers_methods(apart, target):
    assert ask(apart, "callers", target)[0].target == "db/flags:Disk.mark"


def test_a_line_number_selects_the_files_that_are_long_enough(apart):
    hits, _ = ask(apart, "callers", "store.go:75")
    assert hits.candidates == ("one/store.go:75", "two/store.go:75")
    assert ask(apart, "callers", hits.candidates[1])[0].target == "two/store:late"
    assert ask(apart, "callers", "db/store.go:5")[0].target == "db/store:Disk"


@pytest.fixture(scope="module")
def twins(new_config):
    """Files whose ids keep their endings, files in folders, and definitions named like endings."""
    return serve_graph(
        new_config(),
        [
            ("lib/util.py", "module", "lib/util.py"),
            ("lib/util.py:helper", "function", "lib/util.py"),
            ("lib/util.js", "module", "lib/util.js"),
            ("lib/util.js:helper", "function", "lib/util.js"),
            ("a/e", "module", "a/e.ex"),
            ("src/a.c", "module", "src/a.c"),
            ("src/a.h", "module", "src/a.h"),
            ("setup", "module", "setup.py"),
            ("web/reply", "module", "web/reply.ts"),
            ("web/reply:Reply", "class", "web/reply.ts"),
            ("web/reply:Reply.json", "method", "web/reply.ts"),
            ("app/test_page.test", "module", "app/test_page.test.ts"),
        ],
    )


@pytest.mark.parametrize("operation", ["callers", "callees", "dependents", "dependencies", "impact", "path"])
@pytest.mark.parametrize(
    "target",
    [
        "models/user.py",
        "models/util.py",
        "missing.h",
        "src/missing.h",
        "a.b.c.d.e",
        "py",
        "lib/util.ts",
        "sub/setup.py",
        "config.json",
        "models/user.py:12",
        "models/user.py:helper",
        "models/user.py::helper",
        "test",
        "other/",
    ],
)
def test_a_path_that_is_not_there_is_never_read_as_another_file_or_name(twins, operation, target):
    hits, results = ask(twins, operation, target, to=target)
    assert (results, hits.target, hits.ambiguous) == ([], "", False)
    assert hits.suggestion.startswith(("There is no", f"{target!r} may be any of"))
    assert "read as" not in hits.suggestion


@pytest.mark.parametrize(
    ("target", "nearest"),
    [("models/util.py", "lib/util.py"), ("quite/other.rs", ""), ("lib/utils.py", "lib/util.py")],
)
def test_a_path_that_is_not_there_brings_the_nearest_paths(twins, target, nearest):
    hits, _ = ask(twins, "dependents", target)
    assert hits.suggestion.startswith(f"There is no file {target!r} in the graph.")
    assert hits.candidates[:1] == ((nearest,) if nearest else ())


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("util.py", "lib/util.py"),
        ("./lib/util.py", "lib/util.py"),
        ("LIB/Util.py", "lib/util.py"),
        ("lib\\util.py", "lib/util.py"),
        ("file:///home/ann/shop/lib/util.py", "lib/util.py"),
        ("/elsewhere/lib/util.py", "lib/util.py"),
        ("e.ex", "a/e"),
        ("a/e", "a/e"),
        ("Reply.json", "web/reply:Reply.json"),
        ("reply.JSON()", "web/reply:Reply.json"),
        ("answer.json()", "web/reply:Reply.json"),
    ],
)
def test_another_spelling_of_a_file_or_name_that_is_there_is_understood(twins, target, meant):
    assert ask(twins, "dependents", target)[0].target == meant


@pytest.fixture(scope="module")
def quoted(new_config):
    return serve_graph(
        new_config(),
        [
            ("ShopTest:ShopTest", "class", "ShopTest.kt"),
            ("ShopTest:ShopTest.returns nothing for no users", "method", "ShopTest.kt"),
            ("ShopTest:ShopTest.returns 404 (not found)", "method", "ShopTest.kt"),
            ("app:users", "function", "app.py"),
            ("app:Store", "class", "app.py"),
        ],
    )


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("`returns nothing for no users`", "ShopTest:ShopTest.returns nothing for no users"),
        ("ShopTest.`returns nothing for no users`", "ShopTest:ShopTest.returns nothing for no users"),
        ("`ShopTest`.`returns nothing for no users`()", "ShopTest:ShopTest.returns nothing for no users"),
        ("ShopTest.returns nothing for no users", "ShopTest:ShopTest.returns nothing for no users"),
        ("`returns 404 (not found)`", "ShopTest:ShopTest.returns 404 (not found)"),
        ("`users`", "app:users"),
        ("`users()`", "app:users"),
        ("`def users(count)`", "app:users"),
        ("`app.users`", "app:users"),
        ("`class Store`", "app:Store"),
        ("`gives nothing for no users`", ""),
        ("ShopTest.`gives back users`", ""),
    ],
)
def test_a_name_in_backticks_is_one_name(quoted, target, meant):
    hits, _ = ask(quoted, "callers", target)
    assert hits.target == meant
    assert "read as" not in hits.suggestion


@pytest.mark.parametrize(
    "target", ["\u0130\u015flem", "i\u015flem", "I\u015eLEM", "is\u0327lem", "app:\u0130s\u0327lem"]
)
def test_letters_with_marks_are_the_same_composed_decomposed_and_in_any_case(config, target):
    worker = serve_graph(config, [("app:\u0130\u015flem", "function", "app.py")])
    assert ask(worker, "callers", target)[0].target == "app:\u0130\u015flem"


SHOP = {
    "shop/__init__.py": "",
    "shop/menu.py": (
        "from functools import partial\n\n\ndef call_twice(fn, *args):\n    fn(*args)\n    return fn(*args)\n\n\n"
        "class Menu:\n    def __init__(self):\n        self.entries = []\n        self.stack = None\n\n"
        "    def add_entry(self, name):\n        self.entries.append(name)\n\n"
        "    def plugins(self, kind):\n        return self.stack(kind)\n\n\n"
        'def use():\n    Menu().add_entry("soup")\n'
    ),
    "shop/main.py": (
        "from shop.menu import Menu\nfrom shop.plugins.paint import Paint\n\n\n"
        'def build():\n    menu = Menu()\n    menu.plugins("colour")\n    return Paint().wrap(menu)\n'
    ),
    "shop/plugins/__init__.py": "",
    "shop/plugins/paint.py": "class Paint:\n    def wrap(self, menu):\n        return menu\n",
}


@pytest.fixture(scope="module")
def shop(new_config):
    return serve_files(new_config(), SHOP)


@pytest.mark.parametrize(
    "target",
    [
        "Menu.add_entry in shop/menu.py",
        "add_entry() in menu.py",
        "add_entry in shop",
        "add_entry in `shop/`",
        "add_entry of shop.menu",
        "add_entry from menu",
        "add_entry in Menu",
    ],
)
def test_a_name_in_a_path_is_read_as_both(shop, target):
    hits, results = ask(shop, "callers", target)
    assert (hits.target, hits.suggestion) == ("shop/menu:Menu.add_entry", "")
    assert [row["node"]["id"] for row in results] == ["shop/menu:use"]


def test_a_name_that_is_not_in_the_path_is_read_alone_with_a_word(shop):
    for path in ("shop/menu.py", "shop/lost.py"):
        hits, _ = ask(shop, "callers", f"wrap in {path}")
        assert hits.suggestion == f"There is no 'wrap in {path}'; read as shop/plugins/paint:Paint.wrap."


@pytest.mark.parametrize("target", ["shop/plugins", "shop/plugins/"])
def test_a_path_of_a_folder_means_its_files_and_no_method_of_that_name(shop, target):
    for operation in ("callers", "impact"):
        hits, results = ask(shop, operation, target)
        assert (hits.target, results[0]["node"]["id"]) == ("shop/plugins", "shop/main:build")


@pytest.mark.parametrize("target", ["shop/plugins", "shop/plugins/", "plugins/", "plugins", "shop.plugins"])
def test_dependents_of_a_folder_are_the_importers_of_its_files(shop, target):
    hits, results = ask(shop, "dependents", target)
    assert (hits.target, [row["node"]["id"] for row in results]) == ("shop/plugins", ["shop/main"])


def test_a_folder_named_like_a_method_is_meant_where_files_are_and_the_method_is_named(shop):
    hits, _ = ask(shop, "dependents", "plugins")
    assert hits.suggestion == "Also called 'plugins': shop/menu:Menu.plugins."
    assert ask(shop, "callers", "plugins")[0].target == "shop/menu:Menu.plugins"


def test_a_folder_named_like_several_functions_is_meant_where_files_are(config):
    text = "import tools.one\n\n\ndef tools():\n    return tools.one\n"
    texts = {f"{name}.py": text for name in ("first", "second")}
    for name, text in (texts | {"tools/one.py": "def run():\n    pass\n"}).items():
        (config.root / name).parent.mkdir(parents=True, exist_ok=True)
        (config.root / name).write_text(text)
    write_graph(config, (*texts, "tools/one.py"))
    publish(config)
    worker = open_graph(config)
    hits, rows = ask(worker, "dependents", "tools")
    assert (hits.target, hits.suggestion) == ("tools", "Also called 'tools': first:tools, second:tools.")
    assert [row["node"]["id"] for row in rows] == ["first", "second"]
    assert ask(worker, "callers", "tools")[0].ambiguous


@pytest.mark.parametrize("target", ["parts", "parts/"])
def test_folders_named_like_a_file_are_named_where_files_are_meant(config, target):
    names = ("a/parts/one.py", "b/parts/two.py", "terms/parts.py", "main.py")
    texts = {
        name: "import terms.parts\n" if name == "main.py" else "def run():\n    pass\n" for name in names
    }
    worker = serve_files(config, texts)
    hits, _ = ask(worker, "dependents", target)
    assert (hits.target, hits.candidates) == ("terms/parts", ("a/parts", "b/parts"))
    assert hits.suggestion == "Folders called 'parts': a/parts, b/parts."


def test_a_name_of_several_folders_lists_them(config):
    names = ("a/parts/one.py", "b/parts/two.py")
    worker = serve_files(config, dict.fromkeys(names, "def run():\n    pass\n"))
    hits, _ = ask(worker, "dependents", "parts")
    assert (hits.candidates, hits.ambiguous) == (("a/parts", "b/parts"), True)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("entry", "Menu.add_entry"),
        ("twice", "call_twice"),
        ("entry_add", "Menu.add_entry"),
        ("entryAdd", "Menu.add_entry"),
        ("menu.add", "Menu.add_entry"),
    ],
)
def test_a_part_of_a_name_suggests_the_names_with_it(shop, name, near):
    hits, _ = ask(shop, "callers", name)
    assert any(candidate.endswith(near) for candidate in hits.candidates)


@pytest.mark.parametrize("operation", ["callees", "path"])
def test_a_call_of_a_field_is_named_where_no_edge_leads_on(shop, operation):
    hits, _ = ask(shop, operation, "Menu.plugins", to="call_twice")
    assert "self.stack(…) on line 18 is a call of a value that syntax cannot follow." in hits.suggestion


def test_few_names_are_read_for_an_unknown_name_of_several_words(config, monkeypatch):
    nodes = [(f"app:Shop{n}.store_one", "method", "app.py") for n in range(3 * READ_MAX)]
    worker = serve_graph(config, [*nodes, ("app:Crate.store_lid", "method", "app.py")])
    read, texts = [], Names.texts
    monkeypatch.setattr(Names, "texts", lambda names, numbers: read.extend(numbers) or texts(names, numbers))
    hits, _ = ask(worker, "callers", "lid_store")
    assert hits.candidates == ("app:Crate.store_lid",)
    assert 0 < len(read) <= READ_MAX
