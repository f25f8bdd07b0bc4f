"""Targets of C++ calls if several files, or one file several times, or no included file defines the
name: small projects in which a guess would be wrong.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

DISK = (
    "namespace shop {\nclass Disk {\n public:\n  void save(int n = 0);\n  void save(char const* text, int count);\n"
    "  void load() { save(); }\n};\nvoid dump(Disk const& disk);\ninline int twice(int x) { return x; }\n}\n"
)
BODIES = (
    "namespace shop {\nvoid Disk::save(int n) { twice(n); }\nvoid Disk::save(char const* text, int count) {}\n"
    "void dump(Disk const& disk) {}\n}\n"
)
#: a single-header library and its sources
TWICE = {
    "extras/all.hpp": DISK,
    "extras/all.cpp": '#include "all.hpp"\n' + BODIES,
    "src/shop/disk.hpp": DISK,
    "src/shop/disk.cpp": "#include <shop/disk.hpp>\n" + BODIES,
}
#: subject → (files, lines and targets of the calls in `a.cpp`)
CASES = {
    "what is written in no file that one reads is not meant": (
        {
            **TWICE,
            "tests/all.hpp": "#include <shop/disk.hpp>\n",
            "a.cpp": (
                '#include "tests/all.hpp"\nvoid run() {\n  shop::Disk disk;\n  disk.save();\n  shop::twice(2);\n'
                "  shop::dump(disk);\n}\n"
            ),
        },
        {
            (4, "src/shop/disk:shop.Disk.save"),
            (5, "src/shop/disk.hpp:shop.twice"),
            (6, "src/shop/disk:shop.dump"),
        },
    ),
    "defaults that only a declaration says": (
        {
            "store.h": (
                "#include <string>\nclass Store {\n public:\n  void put(std::string const& key, int ttl = 0);\n"
                "  void put(int slot);\n};\nvoid open(char const* name, int mode = 1);\nvoid open(int slot);\n"
            ),
            "store.cpp": (
                '#include "store.h"\nvoid Store::put(std::string const& key, int ttl) {}\nvoid Store::put(int slot) {}\n'
                "void open(char const* name, int mode) {}\nvoid open(int slot) {}\n"
            ),
            "a.cpp": (
                '#include "store.h"\nvoid run(Store* store) {\n  store->put("x");\n  store->put(3);\n  open("x");\n  open(3);\n}\n'
            ),
        },
        {(3, "store:Store.put"), (4, "store:Store.put~2"), (5, "store:open"), (6, "store:open~2")},
    ),
    "one overload has its body in the header": (
        {
            "store.hpp": "struct Store {\n  void put(int slot) {}\n  void put(char const* name);\n};\n",
            "store.cpp": '#include "store.hpp"\nvoid Store::put(char const* name) {}\n',
            "a.cpp": '#include "store.hpp"\nvoid run(Store* store) {\n  store->put("x");\n  store->put(3);\n}\n',
        },
        {(3, "store:Store.put"), (4, "store.hpp:Store.put")},
    ),
    "what is behind a block that a macro begins, and marked members": (
        {
            "a.cpp": (
                "namespace shop {\nstruct Disk { Disk(int n); void save(); int* free(); int n_; };\n"
                "void help() {}\nvoid wrap() {\n  SHOP_TRY {\n    if (ready()) help();\n    else { help(); }\n  } SHOP_CATCH_ALL { help(); }\n}\n"
                "SHOP_INLINE Disk::Disk(int n)\n    : n_(n) { help(); }\nvoid SHOP_INLINE Disk::save() { help(); free(); }\n"
                "SHOP_INLINE int* Disk::free() { return 0; }\n}\nvoid run(shop::Disk* disk) { disk->save(); shop::wrap(); }\n"
            ),
        },
        {
            *((line, "a:shop.help") for line in (6, 7, 8, 11, 12)),
            (12, "a:shop.Disk.free~2"),
            (15, "a:shop.Disk.save~2"),
            (15, "a:shop.wrap"),
        },
    ),
    "functions in the name space of an argument's type": (
        {
            "a.cpp": (
                "namespace shop {\nstruct Disk { struct Slot {}; };\nvoid wipe(Disk& disk) {}\nvoid wipe_slot(Disk::Slot slot) {}\n}\n"
                "namespace mart { struct Disk {}; void wipe(Disk& disk) {} }\n"
                "void run(shop::Disk disk, shop::Disk::Slot slot, Foreign other) {\n  wipe(disk);\n  wipe_slot(slot);\n  wipe(other);\n}\n"
            ),
        },
        {(8, "a:shop.wipe"), (9, "a:shop.wipe_slot")},
    ),
    "members of a template for some types": (
        {
            "a.cpp": (
                "int help(int x) { return x; }\ntemplate <typename T> struct Maker { static int make(T const& x); };\n"
                "template <> struct Maker<int> { static int make(int x) { return twice(help(x)); }\n  static int twice(int x) { return x; }\n};\n"
                "template <> struct Maker<bool> { static int twice(int x) { return x; } };\nvoid run() {\n  Maker<int>::make(3);\n}\n"
            ),
        },
        {(3, "a:Maker.twice"), (3, "a:help"), (8, "a:Maker.make~2")},
    ),
    "what prototypes call their parameters is no variable": (
        {
            "disk.hpp": "struct Disk { void save() {} };\nstruct Tape { void save() {} };\nvoid keep(Disk* d);\n",
            "a.cpp": '#include "disk.hpp"\nvoid run() {\n  d->save();\n}\n',
        },
        set(),
    ),
    "functions of a name space are no methods": (
        {
            "disk.h": "namespace shop { void wipe_all(int x) {} }\n",
            "a.cpp": '#include "disk.h"\nvoid run(Foreign x) {\n  x.wipe_all(1);\n  make().wipe_all(2);\n}\n',
        },
        set(),
    ),
    "a template's parameter before a conversion": (
        {
            "a.cpp": (
                "struct Text { Text(char const* text); };\nstruct Writer {\n  template <typename T> void put(T const& value) {}\n"
                "  void put(bool value) {}\n  void put(Text value) {}\n};\nvoid run(Writer writer, Text text) {\n  writer.put(1);\n"
                "  writer.put(true);\n  writer.put(text);\n}\n"
            ),
        },
        {(8, "a:Writer.put"), (9, "a:Writer.put~2"), (10, "a:Writer.put~3")},
    ),
    "what one of two overloads gives is not known": (
        {
            "a.cpp": (
                "struct Text { bool empty() const { return true; } };\nstd::string trim(std::string const& text) { return text; }\n"
                "Text trim(Text text) { return text; }\nvoid run() {\n  auto left = trim(get());\n  left.empty();\n}\n"
            ),
        },
        set(),
    ),
    "a field of the type that is read": (
        {
            **{
                f"{folder}/shelf.hpp": (
                    "struct Disk { void save() {} };\nstruct Shelf { Disk disk; std::stack<Disk> disks; void run(); };\n"
                )
                for folder in ("all", "lib")
            },
            "a.cpp": '#include "lib/shelf.hpp"\nvoid Shelf::run() {\n  disk.save();\n  disks.top().save();\n}\n',
        },
        {(3, "lib/shelf.hpp:Disk.save"), (4, "lib/shelf.hpp:Disk.save")},
    ),
    "a name space that a test uses, beside a variable of another test": (
        {
            "b.cpp": 'TEST_CASE("other") {\n  auto values = 3;\n}\n',
            "a.cpp": (
                'namespace made { int values(int x) { return x; } }\nTEST_CASE("one") {\n  using namespace made;\n'
                "  auto all = values(3);\n  ::made::values(4);\n}\n"
            ),
        },
        {(4, "a:made.values"), (5, "a:made.values")},
    ),
    "bodies of operators": (
        {
            "a.cpp": (
                "struct Disk {\n  void save();\n  bool operator==(Disk const& other) const { other.save(); return true; }\n"
                "};\nDisk& operator<<(Disk& disk, int n) {\n  disk.save();\n  return disk;\n}\n"
            ),
        },
        {(3, "a:Disk.save"), (6, "a:Disk.save")},
    ),
    "a header of structs is C++ by its content": (
        {
            "disk.h": "#include <string>\nstruct Disk {\n  Disk(int size) : size_(size) {}\n"
            "  int size() const { return size_; }\n  int size_;\n};\n",
            "a.cpp": '#include "disk.h"\nvoid run(const Disk& disk) {\n  disk.size();\n}\n',
        },
        {(3, "disk.h:Disk.size")},
    ),
    "what passes its rest on takes a list of arguments": (
        {
            "a.cpp": (
                "void warn(char const* text, va_list rest) {}\nvoid warn(char const* text, ...) {\n  va_list rest;\n  warn(text, rest);\n}\n"
                'void run(std::string why) {\n  warn("%s", why.c_str());\n  warn("%s %d", get(), 3);\n  warn("");\n}\n'
            ),
        },
        {(4, "a:warn"), (7, "a:warn~2"), (8, "a:warn~2"), (9, "a:warn~2")},
    ),
    "a name from the outermost name space on": (
        {
            "a.cpp": (
                "void save(int x) {}\nnamespace shop { void wipe() {} }\nstruct Disk {\n  void save(int x) { ::save(x); }\n"
                "  void wipe() { ::shop::wipe(); }\n};\n"
            ),
        },
        {(4, "a:save"), (5, "a:shop.wipe")},
    ),
    "nobody calls a test by its name": (
        {
            "store.h": "struct Store { void Load() {} };\nvoid Save(int x);\n",
            "store.cpp": '#include "store.h"\nvoid Save(int x) {}\n',
            "a.cpp": (
                '#include "store.h"\nTEST(StoreTest, Save) {\n  Save(1);\n}\nTEST_F(StoreTest, Wipe) {\n  Foreign x;\n  x.Wipe();\n}\n'
            ),
        },
        {(3, "store:Save")},
    ),
    "a function of the file hides none of an included file": (
        {
            "path.h": "void tidy(char* path, int* bits);\n",
            "path.cpp": '#include "path.h"\nvoid tidy(char* path, int* bits) {}\n',
            "a.cpp": '#include "path.h"\nnamespace {\nvoid tidy(char* path) {\n  tidy(path, 0);\n}\n}\nvoid run() { tidy("x"); }\n',
        },
        {(4, "path:tidy"), (7, "a:tidy")},
    ),
    "what a body is declared with that has no name": (
        {
            "store.h": "struct Options {};\nvoid save(int x, Options = Options());\n",
            "store.cpp": '#include "store.h"\nvoid save(int x, Options options) {}\n',
            "a.cpp": '#include "store.h"\nvoid keep(int x = 1);\nvoid keep(int x) {}\nvoid run() {\n  save(1);\n  keep();\n}\n',
        },
        {(5, "store:save"), (6, "a:keep~2")},
    ),
    "name spaces in one that the file opens": (
        {
            "disk.h": "namespace shop {\nstruct Disk { Disk(); void save(); static void wipe(); };\nnamespace tools { int turn(int x) { return x; } struct Pen { void draw() {} }; }\n}\n",
            "disk.cpp": '#include "disk.h"\nnamespace shop {\nvoid shop::Disk::save() {}\nvoid Disk::wipe() {}\n}\n',
            "a.cpp": (
                '#include "disk.h"\nnamespace shop {\nusing tools::Pen;\nvoid run(Pen pen) {\n  using namespace tools;\n  turn(1);\n  pen.draw();\n'
                "  shop::Disk disk;\n  disk.save();\n  shop::Disk::wipe();\n}\n}\n"
            ),
        },
        {
            (6, "disk.h:shop.tools.turn"),
            (7, "disk.h:shop.tools.Pen.draw"),
            (9, "disk:shop.Disk.save"),
            (10, "disk:shop.Disk.wipe"),
        },
    ),
    "iterators": (
        {
            "a.cpp": (
                "struct Disk { void save() {} int begin() { return 1; } };\ntypedef std::map<std::string, Disk*> Named;\n"
                "using Disks = std::vector<std::unique_ptr<Disk>>;\nstruct Store {\n  Named named; Disks disks; std::vector<Disk*> all;\n"
                "  void run() {\n"
                "    for (Named::const_iterator i = named.begin(); i != named.end(); ++i) i->second->save();\n"
                "    for (std::vector<Disk*>::iterator i = all.begin(); i != all.end(); ++i) (*i)->save();\n"
                '    auto found = named.find("x");\n    found->second->save();\n    for (auto& pair : named) pair.second->save();\n'
                "    for (auto const& disk : disks) disk->save();\n    disks.save();\n  }\n"
                "  void behind(std::vector<Disk*>* held, Disk* disk) {\n    (*held).save();\n    (*held)[0]->save();\n    (*disk).begin();\n"
                "  }\n};\n"
            ),
        },
        {(line, "a:Disk.save") for line in (7, 8, 10, 11, 12, 17)} | {(18, "a:Disk.begin")},
    ),
    "name spaces that the macros of another file open": (
        {
            "macros.h": (
                "#define SHOP_NAMESPACE_START namespace shop { inline namespace SHOP_JOIN(v, 1)\n"
                "#define SHOP_IMPL_NAMESPACE_START SHOP_NAMESPACE_START { namespace impl\n"
                "#define STD_NAMESPACE_START namespace std\n"
            ),
            "disk.h": (
                '#include "macros.h"\n#define SHOP_IMPL ::shop::impl\n/// \\cond\nSHOP_IMPL_NAMESPACE_START // own\n{\nint twice(int n) { return n; }\n}\n'
                "SHOP_IMPL_NAMESPACE_END;\n\nSHOP_NAMESPACE_START\n{\nclass Disk {\n public:\n  int n;\n\n  SHOP_NODISCARD\n"
                "  SHOP_RETURNS(nonnull)\n  SHOP_EXPORTED\n  Disk* next();\n};\nnamespace detail { int size(Disk d) { return 1; } }\n"
                "int sort(Disk d) { return 1; }\n}\nSHOP_NAMESPACE_END;\n"
            ),
            "a.cpp": (
                '#include "disk.h"\nvoid run() {\n  shop::Disk disk;\n  disk.next()->next();\n  shop::impl::twice(1);\n'
                "  SHOP_IMPL::twice(1);\n  ::shop::impl::twice(1);\n  shop::detail::size(disk);\n  std::sort(disk);\n}\n"
                "namespace s = shop;\nvoid more(s::Disk disk) {\n  disk.next();\n  shop::absent(1);\n}\n"
            ),
        },
        {
            (4, "disk.h:Disk.next"),
            *((line, "disk.h:twice") for line in (5, 6, 7)),
            (8, "disk.h:detail.size"),
            (13, "disk.h:Disk.next"),
        },
    ),
    "bodies in a part of a source that includes nothing": (
        {
            "disk.h": "struct Disk { int name(); };\n",
            "disk.inl": "int Disk::name() { return 1; }\n",
            "disk.cpp": '#include "disk.h"\n#include "disk.inl"\n',
            "a.cpp": '#include "disk.h"\nvoid run(Disk* disk) {\n  disk->name();\n}\n',
        },
        {(3, "disk.inl:Disk.name")},
    ),
    "a smart pointer's own methods, and what they return": (
        {
            "a.cpp": (
                "struct Disk { int get() { return 1; } void reset() {} };\nstruct Tape { void save() {} };\nstruct Shop {\n"
                "  std::unique_ptr<Disk> disk; std::shared_ptr<Tape> tape; std::weak_ptr<Tape> old;\n  void run(Disk plain) {\n"
                "    disk.get();\n    disk->get();\n    this->disk.reset();\n    plain.get();\n    auto other = std::make_shared<Disk>();\n"
                "    other.get();\n    other->reset();\n    tape.get()->save();\n    old.lock()->save();\n  }\n};\n"
                "template <class T> struct optional { T value(); };\nvoid own(optional<Disk> disk) {\n  disk.value();\n}\n"
            ),
        },
        {
            (7, "a:Disk.get"),
            (9, "a:Disk.get"),
            (12, "a:Disk.reset"),
            (13, "a:Tape.save"),
            (14, "a:Tape.save"),
            (19, "a:optional.value"),
        },
    ),
    "other names of a type in the branches of a condition": (
        {
            "size.h": "namespace shop {\n#ifdef SMALL\nusing Size = int;\n#else\nusing Size = int64_t;\n#endif\n}\n",
            "a.cpp": '#include "size.h"\nvoid run() {\n  shop::Size(1);\n}\n',
        },
        {(3, "size.h:shop.Size"), (3, "size.h:shop.Size~2")},
    ),
}


def project_of(files):
    project = Project(LANGUAGES)
    read = {
        path: facts_of(decode(path, text.encode()), digest(text.encode())) for path, text in files.items()
    }
    project.update(read)
    return project


@pytest.mark.parametrize("what", CASES)
def test_calls_lead_to_the_right_definitions(what):
    files, expected = CASES[what]
    project = project_of(files)
    edges = edges_of(project, Evaluator(project), "a.cpp")
    assert {
        (edge.location.line, edge.target) for edge in edges if edge.type == "calls" and edge.target
    } == expected


def test_a_qualified_call_is_placed_at_its_last_name():
    project = project_of(
        {"a.cpp": "namespace a { namespace b { void f() {} } }\nvoid run() { a::b::f(); ::a::b::f(); }\n"}
    )
    edges = edges_of(project, Evaluator(project), "a.cpp")
    assert [edge.location.column for edge in edges if edge.type == "calls"] == [19, 32]


def test_a_changed_include_resolves_its_readers_anew():
    files = {
        **TWICE,
        "mine.hpp": "#include <shop/disk.hpp>\n",
        "a.cpp": '#include "mine.hpp"\nvoid run() { shop::twice(2); }\n',
    }
    project = project_of(files)
    edited = "mine.hpp", '#include "extras/all.hpp"\n'
    text = edited[1].encode()
    assert "a.cpp" in project.update({"mine.hpp": facts_of(decode("mine.hpp", text), digest(text))})
    edges = edges_of(project, Evaluator(project), "a.cpp")
    fresh = project_of({**files, edited[0]: edited[1]})
    assert edges == edges_of(fresh, Evaluator(fresh), "a.cpp")
    assert "extras/all.hpp:shop.twice" in {edge.target for edge in edges}


def test_a_changed_macro_resolves_the_readers_of_its_name_space_anew():
    files = {
        "macros.h": "#define SHOP_NAMESPACE namespace shop\n",
        "disk.hpp": '#include "macros.h"\nSHOP_NAMESPACE {\nint twice(int n) { return n; }\n}\n',
        "a.cpp": '#include "disk.hpp"\nint run() { return shop::twice(1); }\n',
    }
    project = project_of(files)
    assert "disk.hpp:twice" in {edge.target for edge in edges_of(project, Evaluator(project), "a.cpp")}
    text = files["macros.h"].replace("shop", "mart").encode()
    assert "a.cpp" in project.update({"macros.h": facts_of(decode("macros.h", text), digest(text))})
    assert "disk.hpp:twice" not in {edge.target for edge in edges_of(project, Evaluator(project), "a.cpp")}


@pytest.mark.parametrize(
    ("macros", "header"),
    [
        ("#define SHOP_OPEN namespace shop {\n", ""),
        ('#define USES using namespace shop;\n#define NAME "namespace shop"\n', '#include "macros.h"\n'),
    ],
)
def test_a_name_space_of_a_macro_that_a_file_does_not_use_is_not_meant(macros, header):
    files = {
        "macros.h": macros,
        "disk.hpp": header + "inline int twice(int n) { return n; }\n",
        "a.cpp": '#include "disk.hpp"\nint run() { return shop::twice(1); }\n',
    }
    project = project_of(files)
    assert "disk.hpp:twice" not in {edge.target for edge in edges_of(project, Evaluator(project), "a.cpp")}


def test_edges_do_not_depend_on_files_unpacked_before():
    files = {
        "held.hpp": "template <typename T> class optional { public: bool none() { return true; } };\n",
        "shelf.hpp": '#include "held.hpp"\nclass Shelf { public: optional<std::string> name() { return {}; } };\n',
        "a.cpp": '#include "shelf.hpp"\nvoid run(Shelf shelf) {\n  shelf.name().none();\n}\n',
    }
    once, twice = project_of(files), project_of(files)
    assert twice.index("shelf.hpp").references  # unpacked
    assert edges_of(once, Evaluator(once), "a.cpp") == edges_of(twice, Evaluator(twice), "a.cpp")


MACROS = {
    "cmd.hpp": (
        "namespace cmd {\nclass CMD_API Command {\n public:\n  int run() const;\n  std::string two() const;\n"
        "  Command *self(int n);\n  std::string brief() const;\n};\n"
        "CMD_INLINE int Command::run() const { return 1; }\n"
        'CMD_NODISCARD CMD_INLINE std::string Command::two() const { run(); return ""; }\n'
        "CMD_INLINE Command *\nCommand::self(int n) { run(); return this; }\n"
        'INL std::string Command::brief() const { run(); return ""; }\n}\n'
    ),
    "test.cpp": (
        '#include "cmd.hpp"\nstruct Fix {\n  cmd::Command command;\n  int start() { return command.run(); }\n};\n'
        'TEST_CASE_METHOD(Fix, "Runs two", "[command]") {\n  command.two();\n  start();\n}\n'
        "BOOST_FIXTURE_TEST_CASE(starts, Fix) {\n  start();\n}\nTEST_F(Fix, Brief) { command.brief(); }\n"
    ),
}


def test_macros_before_definitions_and_fixtures_of_tests_leave_their_types():
    project = Project(LANGUAGES)
    project.update(
        {path: facts_of(decode(path, text.encode()), digest(text.encode())) for path, text in MACROS.items()}
    )
    evaluator = Evaluator(project)
    calls = {
        (edge.source.rpartition(":")[2].partition("~")[0], edge.target.rpartition(":")[2].partition("~")[0])
        for path in MACROS
        for edge in edges_of(project, evaluator, path)
        if edge.type == "calls"
    }
    assert calls == {
        *((f"cmd.Command.{name}", "cmd.Command.run") for name in ("two", "self", "brief")),
        ("Fix.start", "cmd.Command.run"),
        ("Fix.Runs_two", "cmd.Command.two"),
        ("Fix.Runs_two", "Fix.start"),
        ("Fix.starts", "Fix.start"),
        ("Fix.Brief", "cmd.Command.brief"),
    }


@pytest.mark.parametrize(
    "prototype",
    [
        "void SHOP_PRINTF(1, 2) note(char const *format, ...);",
        "static unsigned long SHOP_PRINTF(1, 2)\n    note(char const *format, ...);",
        "extern __printf(1, 2) void note(char const *format, ...);",
        "SHOPAPI(void) SHOPCALL\nnote(char const *format, ...);",
        "extern SHOPAPI(const char *) note(char const *format, ...);",
        "void note(char const *format, ...) SHOP_NONNULL(1);",
    ],
)
@pytest.mark.parametrize("header", ["mark.h", "mark.hpp"])
def test_a_macro_beside_a_prototype_loses_nothing_of_its_header(header, prototype):
    text = (
        f"{prototype}\n#define FAIL(text) fail(text)\ntypedef struct disk disk_t;\n"
        "struct disk {\n  int free;\n};\nvoid fail(char const *text) { note(text); }\n"
    )
    user = f'#include "{header}"\nint main(void) {{\n  FAIL("full");\n  return 0;\n}}\n'
    files = {header: text, f"main.{'c' if header == 'mark.h' else 'cpp'}": user}
    project = project_of(files)
    assert {"FAIL", "disk_t", "disk", "fail"} <= {
        definition.name for definition in project.index(header).facts.definitions
    }
    evaluator = Evaluator(project)
    calls = {
        (edge.source.rpartition(":")[2], edge.target.rpartition(":")[2])
        for path in files
        for edge in edges_of(project, evaluator, path)
        if edge.type == "calls" and edge.target
    }
    assert {("main", "FAIL"), ("FAIL", "fail")} <= calls
