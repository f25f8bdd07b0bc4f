"""Arguments as models send them, converted to the types and names of the tools."""

import pytest

from cortex.front.argument_forms import locate_arguments
from cortex.front.tools import TOOLS
from cortex.system.errors import BadRequest

ROOT = "/home/ann/shop"


def checked(tool, name, value, **more):
    return getattr(TOOLS[tool].check({**more, name: value}), name)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        (["a", "b"], ("a", "b")),
        ("a", ("a",)),
        ('["a", "b"]', ("a", "b")),
        ("['a', 'b']", ("a", "b")),
        ("a, b", ("a", "b")),
        ("a\nb", ("a", "b")),
        ("*.{ts,tsx},b", ("*.{ts,tsx}", "b")),
        ("[ab]*.py", ("[ab]*.py",)),
        ([None, "a"], ("a",)),
        ([1], ("1",)),
        ("", ()),
        ("null", ()),
        ("[]", ()),
        ([], ()),
    ],
)
def test_a_list_is_taken_as_one_value_as_json_and_parted_by_commas(sent, taken):
    assert checked("cortex_search", "paths", sent, query="x") == taken


@pytest.mark.parametrize(
    ("tool", "name", "sent", "taken"),
    [
        ("cortex_search", "limit", " 7 ", 7),
        ("cortex_search", "limit", "7.0", 7),
        ("cortex_search", "limit", "null", 15),
        ("cortex_search", "explain", "yes", True),
        ("cortex_search", "explain", "False", False),
        ("cortex_search", "min_score", "0.5", 0.5),
        ("cortex_search", "query", 404, "404"),
        ("cortex_search", "query", ["why"], "why"),
        ("cortex_search", "query", "null", "null"),
        ("cortex_search", "detail", "Snippet", "snippet"),
        ("cortex_search", "chunk_types", "definitions", ("definitions",)),
        ("cortex_exact", "match_type", "none", None),
    ],
)
def test_a_value_is_taken_in_the_type_that_it_means(tool, name, sent, taken):
    more = {} if name == "query" else {"query": "x"}
    assert checked(tool, name, sent, **more) == taken


@pytest.mark.parametrize("sent", ["type-usages", "Type Usages", "TYPE_USAGE"])
def test_one_of_several_words_is_known_in_any_case_and_number(sent):
    assert checked("cortex_graph", "operation", sent, target="x") == "type_usages"


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("go", "go"),
        ("golang", "go"),
        ("Go", "go"),
        (".go", "go"),
        ("js", "javascript"),
        ("jsx", "javascript"),
        ("node", "javascript"),
        ("ts", "typescript"),
        ("tsx", "tsx"),
        ("py", "python"),
        ("md", "markdown"),
        ("c++", "cpp"),
        ("C#", "csharp"),
        ("rs", "rust"),
        ("yml", "yaml"),
        ("bash", "shell"),
        ("all", ""),
        ("klingon", "klingon"),
    ],
)
def test_a_language_has_its_usual_names(sent, taken):
    assert checked("code_context", "lang", sent, query="x") == taken
    assert checked("cortex_pattern", "language", sent, pattern="x") == taken


@pytest.mark.parametrize(
    ("name", "sent", "taken"),
    [
        ("paths", (".",), ()),
        ("paths", ("./",), ()),
        ("paths", (ROOT,), ()),
        ("paths", ("src/a.py", "."), ()),
        ("paths", (f"{ROOT}/src/**",), ("/src/**",)),
        ("paths", ("./src/**",), ("src/**",)),
        ("paths", ("src\\auth\\*.py",), ("src\\auth\\*.py",)),
        ("paths", ("src/a.py:12",), ("src/a.py",)),
        ("paths", ("src/a.py:12:3",), ("src/a.py",)),
        ("paths", ("*.{ts,tsx}",), ("*.{ts,tsx}",)),
        ("paths", (f"file://localhost{ROOT}/app/%5Bslug%5D/a%20b.ts",), ("/app/[slug]/a b.ts",)),
        ("paths", ("\\#odd", "!src/b"), ("\\#odd", "!src/b")),
        ("exclude_paths", (".",), ("**",)),
        ("exclude_patterns", ("./tests/",), ("tests/",)),
        ("scope", f"{ROOT}/src/**", "/src/**"),
        ("scope", ".", ""),
        ("path", ".", ""),
        ("path", ROOT, ""),
        ("path", f"{ROOT}/src/", "src"),
        ("path", "./src/../lib", "lib"),
        ("path", "src\\auth", "src/auth"),
        ("file", f"{ROOT}/src/a.py:12", "src/a.py:12"),
        ("target", f"{ROOT}/src/a.py:12", "src/a.py:12"),
        ("symbol", f"{ROOT}/src/a.py:12", "src/a.py:12"),
        ("places", (f"{ROOT}/src/a.py:12-30", "Store.save"), ("src/a.py:12-30", "Store.save")),
        ("tags", ("./src/a.py", f"{ROOT}/b.py", "go"), ("src/a.py", "b.py", "go")),
    ],
)
def test_a_path_becomes_that_of_the_index(name, sent, taken):
    assert locate_arguments({name: sent}, ROOT)[name] == taken


@pytest.mark.parametrize(
    ("tool", "name"),
    [("cortex_exact", "paths"), ("cortex_search", "exclude_paths"), ("cortex_graph", "exclude_patterns"),
     ("cortex_pattern", "paths"), ("cortex_graph", "scope")],
)  # fmt: skip
@pytest.mark.parametrize(
    ("glob", "why"),
    [("[z-a]", "cannot be read"), ("[[:odd:]]", "class"), ("a\0", "NUL"), ("x" * 2000, "longer than")],
)
def test_a_glob_that_is_none_is_refused_by_the_name_of_its_argument(tool, name, glob, why):
    schema = TOOLS[tool].schema["properties"][name]
    value = (glob,) if schema["type"] == "array" else glob
    with pytest.raises(BadRequest, match=rf"of `{name}` .*{why}"):
        locate_arguments({name: value}, "/project")


@pytest.mark.parametrize("name", ["paths", "exclude_paths", "tags", "chunk_types"])
def test_a_list_of_fifty_thousand_is_refused_by_its_name(name):
    with pytest.raises(BadRequest, match=f"`{name}` has 50000 items; at most 256"):
        TOOLS["cortex_exact"].check({"query": "x", name: ["a"] * 50_000})


def whole_numbers():
    for name, tool in TOOLS.items():
        for argument, schema in tool.schema["properties"].items():
            if schema.get("type") == "integer":
                yield name, argument


#: required arguments without a valid sample of their type
NEEDED = {
    "cortex_graph": {"operation": "callers", "target": "x"},
    "cortex_pattern": {"pattern": "x", "language": "go"},
}


def needed(tool, argument):
    """Return the other required arguments of `tool`."""
    if tool in NEEDED:
        return NEEDED[tool]
    schema = TOOLS[tool].schema
    needs = {name: schema["properties"][name] for name in schema.get("required", ()) if name != argument}
    return {name: ["x"] if field.get("type") == "array" else "1" for name, field in needs.items()}


@pytest.mark.parametrize(("tool", "argument"), list(whole_numbers()))
def test_a_number_beyond_64_bits_is_the_bound_of_its_argument_or_refused(tool, argument):
    for sent in (10**30, -(10**30), 2**64, "9" * 900, "-" + "9" * 30):
        assert abs(checked(tool, argument, sent, **needed(tool, argument))) == 2**53
    with pytest.raises(BadRequest, match=f"`{argument}`"):
        checked(tool, argument, "9" * 4_400, **needed(tool, argument))


@pytest.mark.parametrize(("tool", "argument"), list(whole_numbers()))
def test_other_than_a_whole_number_is_refused_with_the_argument(tool, argument):
    for sent in (True, False, float("nan"), float("inf"), 1e300, 1.5, "nan", "1.5", [1, 2], {"a": 1}):
        with pytest.raises(BadRequest, match=f"`{argument}`"):
            checked(tool, argument, sent, **needed(tool, argument))


@pytest.mark.parametrize("sent", [float("nan"), float("inf"), "-inf", "nan", True, "9" * 4_400])
def test_a_score_is_a_finite_number(sent):
    with pytest.raises(BadRequest, match="`min_score`"):
        checked("cortex_search", "min_score", sent, query="x")


@pytest.mark.parametrize(
    ("name", "sent", "taken"),
    [
        ("paths", "src/*.py", "/src/*.py"),
        ("paths", "[slug]/**", "/[slug]/**"),
        ("exclude_paths", "nowhere/a.py", "/nowhere/a.py"),
        ("exclude_patterns", "src", "/src"),
        ("file", "src/a.py:12", "src/a.py:12"),
        ("target", "src/a.py:Store.save", "src/a.py:Store.save"),
        ("places", "src/a.py:3", "src/a.py:3"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}"])
def test_a_path_through_a_link_to_the_root_is_one_of_the_project(tmp_path, name, sent, taken, form):
    root, link = tmp_path / "project", tmp_path / "link"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("")
    link.symlink_to(root)
    for folder in (root, link):
        text = form.format(f"{folder}/{sent}")
        value = (text,) if name in ("paths", "exclude_paths", "exclude_patterns", "places") else text
        located = locate_arguments({name: value}, str(root))[name]
        assert located == ((taken,) if isinstance(value, tuple) else taken)


def test_a_path_through_a_link_elsewhere_stays(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "project").mkdir()
    outside = f"{tmp_path}/link/other/*.py"
    assert locate_arguments({"paths": (outside,)}, str(tmp_path / "project"))["paths"] == (outside,)
    assert locate_arguments({"paths": (f"!{tmp_path}/link/project/a",)}, str(tmp_path / "project"))[
        "paths"
    ] == (f"!{tmp_path}/project/a",)


@pytest.mark.parametrize("path", ["back\\slash.py", "it's.py", "a:12", "`x`.py"])
def test_a_path_of_the_index_is_taken_as_it_is(path):
    for name in ("path", "file", "target", "symbol"):
        assert locate_arguments({name: path}, ROOT, lambda: {path})[name] == path
    assert locate_arguments({"places": (path,)}, ROOT, lambda: {path})["places"] == (path,)


def test_a_class_that_nobody_can_read_is_a_name_where_a_folder_is_called_so():
    listed = {"app/[user-id]/page.ts"}
    for glob in ("app/[user-id]/**", "[user-id]", "app/[user-id]/page.ts"):
        assert locate_arguments({"paths": (glob,)}, ROOT, lambda: listed)["paths"] == (glob,)
        with pytest.raises(BadRequest, match="cannot be read"):
            locate_arguments({"paths": (glob,)}, ROOT)
