"""Names and places in the spellings of languages, tools and people."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.terms.code.mangled_names import demangle
from cortex.terms.languages import LANGUAGES, canonical, nearest_language
from cortex.terms.text.spelling import (
    FileLines,
    means_file,
    path_below,
    read_file_lines,
    read_globs,
    read_list,
    read_symbol,
    same_tags,
)
from tests.drawn_examples import scaled


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("(*Store).Save", "Store.Save"),
        ("pkg.(*Store).Save", "pkg.Store.Save"),
        ("github.com/x/y/store.(*Disk).Save", "github.com/x/y/store.Disk.Save"),
        ("func (s *Store) Save(ctx context.Context) error", "Store.Save"),
        ("main.(*Store).Save.func1", "main.Store.Save"),
        ("Store::save", "Store.save"),
        ("Store#save", "Store.save"),
        ("Store->save()", "Store.save"),
        ("Store?.save", "Store.save"),
        ("$this->save", "save"),
        ("self.store.save(x)", "store.save"),
        ("save()", "save"),
        ("Store.save(item: Item) -> None", "Store.save"),
        ("Vec<T>::push", "Vec.push"),
        ("Map<String, Foo>.get", "Map.get"),
        ("Map[string, Foo].Get", "Map.Get"),
        ("std::map<K, std::vector<V>>::insert", "std.map.insert"),
        ("<Store as Trait>::save", "Store.save"),
        ("<impl Trait for Store>::save", "Store.save"),
        ("async def save(self):", "save"),
        ("pub(crate) fn save(&self)", "save"),
        ("class Store(Base):", "Store"),
        ("export default class Store extends Base {", "Store"),
        ("void Store::save(int x)", "Store.save"),
        ("-[Store save:]", "Store.save"),
        ("<function Store.save at 0x7f>", "Store.save"),
        ("<bound method Store.save of <Store>>", "Store.save"),
        ("Store.save/2", "Store.save"),
        ("Store.prototype.save", "Store.save"),
        ("`save`", "save"),
        ("App\\Store::save", "App.Store.save"),
        ("new Store()", "Store"),
        ("_ZN5Store4saveEv", "Store.save"),
    ],
)
def test_a_name_is_read_without_arguments_types_and_pointers(text, first):
    assert read_symbol(text)[0] == first


def test_a_name_may_be_any_end_of_the_text_the_longest_first():
    assert read_symbol("pkg.Store.save()") == ("pkg.Store.save", "Store.save", "save")


@pytest.mark.parametrize("text", ["", "...", "()", "<>", "::", "/", "_Z", "_ZN", "_R"])
def test_a_text_without_a_name_has_no_reading(text):
    assert not [reading for reading in read_symbol(text) if reading not in ("_Z", "_ZN", "_R")]


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("_ZN5Store4saveEv", "Store.save"),
        ("__ZN5Store4saveEv", "Store.save"),
        ("_ZNK3app5Store4saveERKSs", "app.Store.save"),
        ("_ZN3std6vectorIiSaIiEE9push_backEOi", "std.vector.push_back"),
        ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std.vector.push_back"),
        ("_Z4savei", "save"),
        ("_ZN5StoreC1Ev", "Store.Store"),
        ("_ZN4core3fmt5Write9write_str17h0123456789abcdefE", "core.fmt.Write.write_str"),
        ("_ZN40_$LT$app..Store$u20$as$u20$app..Keep$GT$4save17h0123456789abcdefE", "Store.save"),
        ("_RNvNtCs1234_7mycrate5store4save", "mycrate.store.save"),
        ("save", ""),
        ("_Zoo", ""),
    ],
)
def test_the_readable_parts_of_a_mangled_name_are_read(text, readable):
    assert demangle(text) == readable


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("store.go:188", FileLines("store.go", 188)),
        ("src/store.go:188:7", FileLines("src/store.go", 188)),
        ("src/store.go:188-190", FileLines("src/store.go", 188, 190)),
        ("src/store.go:190-188", FileLines("src/store.go", 188, 190)),
        ("src/store.go#L188", FileLines("src/store.go", 188)),
        ("src/store.go#L188-L190", FileLines("src/store.go", 188, 190)),
        ("src/store.go#L188-190", FileLines("src/store.go", 188, 190)),
        ("src/store.go#L188C3-L190C7", FileLines("src/store.go", 188, 190)),
        ("src\\store.go:188", FileLines("src/store.go", 188)),
        ("./src/store.go", FileLines("src/store.go")),
        (".", FileLines("")),
        ("`src/store.go`", FileLines("src/store.go")),
    ],
)
def test_a_place_is_a_path_and_a_line(text, place):
    assert read_file_lines(text) == place


def test_a_place_has_the_lines_from_its_first_to_its_last():
    assert list(read_file_lines("a.py:12-14").lines) == [12, 13, 14]
    assert list(read_file_lines("a.py:12:3").lines) == [12]
    assert list(read_file_lines("a.py").lines) == []


def test_a_path_outside_stays_unchanged():
    assert path_below("/etc/passwd", "/home/ann") == "/etc/passwd"
    assert path_below("/home/anna/x", "/home/ann") == "/home/anna/x"
    assert path_below("file:///home/ann/x.py", "/home/ann") == "x.py"


@pytest.mark.parametrize(
    ("tag", "same"),
    [("Go", ("go",)), ("golang", ("golang", "go")), ("ts", ("ts", "tsx", "typescript")), ("tsx", ("tsx",))],
)
def test_tags_of_one_language_are_the_same(tag, same):
    assert same_tags(tag) == same


def test_test_and_tests_are_the_same_tag():
    assert set(same_tags("test")) == set(same_tags("tests")) == {"test", "tests"}


def test_every_language_is_known_by_its_name_and_the_nearest_is_named():
    assert all(canonical(language.name) == language.name for language in LANGUAGES)
    assert (nearest_language("pyhton"), nearest_language("golagn"), nearest_language("kotln")) == (
        "python",
        "go",
        "kotlin",
    )
    assert canonical("klingon") == ""


@settings(max_examples=scaled(300), deadline=None)
@given(st.text(max_size=80) | st.text("_ZNRE0123456789abcI<>()[]{}.:*$/\\#,-\"' \n", max_size=60))
def test_any_text_is_read_without_an_error(text):
    assert all(isinstance(reading, str) for reading in read_symbol(text))
    assert isinstance(read_file_lines(text).line, int)
    assert all(read_globs(text, "/r"))
    assert isinstance(read_list(text), list)
    assert isinstance(path_below(text, "/r"), str)


@pytest.mark.parametrize(
    ("path", "indexed", "means"),
    [
        ("src/a.py", "src/a.py", True),
        ("a.py", "src/a.py", True),
        ("SRC/A.py", "src/a.py", True),
        ("/elsewhere/src/a.py", "src/a.py", True),
        ("/elsewhere/a.py", "a.py", False),
        ("lib/a.py", "a.py", False),
        ("other/src/a.py", "src/a.py", False),
        ("lib/x/a.py", "src/x/a.py", False),
        ("src/../src/x/a.py", "src/x/a.py", True),
        ("caf\u00e9/a.py", "cafe\u0301/a.py", True),
        ("", "a.py", False),
    ],
)
def test_a_path_means_the_file_that_it_is_or_ends(path, indexed, means):
    assert means_file(path, indexed) == means
