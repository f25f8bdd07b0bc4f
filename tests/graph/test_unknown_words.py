"""Macros of C++ that no rule names: found by the errors of the parser."""

from __future__ import annotations

import pytest

from cortex.indexer.syntax.parse import parse, syntax_tree, without_marks
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import LANGUAGES
from tests.graph.small_graphs import calls_in, project_of

CPP = next(language for language in LANGUAGES if language.name == "cpp")


def read(text: str) -> str:
    return "\n".join(without_marks(Source("a.cpp", tuple(text.split("\n"))), CPP).lines)


def has_errors(text: str) -> bool:
    return syntax_tree(Source("a.cpp", tuple(text.split("\n"))), CPP)[1].root_node.has_error


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("static THREAD_LOCAL Mode mode;", "static              Mode mode;"),
        ("class Disk {\n  FAST ~Disk() {}\n};", "class Disk {\n       ~Disk() {}\n};"),
        ("inline FAST int size() { return 1; }", "inline      int size() { return 1; }"),
        ("struct Disk {\n  void save() QUICKLY;\n};", "struct Disk {\n  void save()        ;\n};"),
        ("struct Disk {\n  int save() FAST {}\n};", "struct Disk {\n  int save()      {}\n};"),
        ("int load(int a) CHECKED(1, 2);\nint b;", "int load(int a)              ;\nint b;"),
        (
            "template <class T> NEEDS(T) struct Disk { int f(); };",
            "template <class T>          struct Disk { int f(); };",
        ),
        ("int SLOW(1) size() { return 1; }", "int         size() { return 1; }"),
        (
            "auto raw(T p) FAST -> decltype(p.get()) {\n  return p.get();\n}",
            "auto raw(T p)      -> decltype(p.get()) {\n  return p.get();\n}",
        ),
        ("BEGIN\nint f();\nEND", "     \nint f();\n   "),
        ("BEGIN\nPART(x)\nint f();", "     \n       \nint f();"),
        (
            "FAST const int a = 1;\nstruct Disk {\n  FAST Disk();\n};",
            "     const int a = 1;\nstruct Disk {\n       Disk();\n};",
        ),
        ("extern FAST const int size;", "extern      const int size;"),
        (
            "template <class T>\nATTR(nonnull)\nSHOP_INLINE\nvoid f(T x);",
            "template <class T>\n             \n           \nvoid f(T x);",
        ),
        (
            "struct Disk {\n  explicit A_A A_B Disk(int n);\n};",
            "struct Disk {\n  explicit         Disk(int n);\n};",
        ),
        ("struct Disk {\n  ALIGNED char text[SIZE];\n};", "struct Disk {\n          char text[SIZE];\n};"),
        ("int f() const noexcept WORKAROUND;", "int f() const noexcept           ;"),
        ("static void * A_CDECL load(int size) {}", "static void *         load(int size) {}"),
        ("BOOL WINAPI load(int size);\nint b;", "BOOL        load(int size);\nint b;"),
        ("MODE FAST load(MODE mode, int b);\nint b;", "MODE      load(MODE mode, int b);\nint b;"),
        (  # each is a call, not an annotation of the one before
            "HAS(disk)\nHAS(tape)\nOLD(page)\nint f();",
            "HAS(0);  \nHAS(0);  \nOLD(0);  \nint f();",
        ),
    ],
)
def test_a_word_in_capitals_is_blanked_if_an_error_goes_with_it(text: str, plain: str) -> None:
    assert read(text) == plain
    assert not has_errors(plain)


@pytest.mark.parametrize(
    "text",
    [
        "HANDLE open(int a __odd b);\nHANDLE *other();",  # a type, and an error of something else
        "HANDLE open(int a __odd b);",
        "TEST(saves) {\n  int y z;\n}",
        "int f() {\n  return SIZE c;\n}",
        "void f() {\n  LOG(x) << 3 4;\n}",
        "void f() {\n  CHECK(g())\n  h();\n}",  # the call in its arguments is one
        "int x = SIZE y;",
        "struct Disk {\n  DWORD id a;\n  vector<DWORD> c;\n};",
        '"FAST x";\n// FAST int\nint y z;',
        "#define FAST int x y\nint y z;",
        "FILE *open();\nTYPE size();",
        'const char *text = PART("a") PART("b");\nint b;',
    ],
)
def test_types_values_and_calls_stay(text: str) -> None:
    assert read(text) == text


MARKED = """\
SHOP_INLINE Disk::Disk(int free) SHOP_NOEXCEPT
    : free_(free) {
  SHOP_TRY {
    save();
  } SHOP_CATCH_ALL { return; }
}
void SHOP_INLINE shop::Box<T>::put(int x) { x_ = SHOP_FLAGS{}; }
SHOP_INLINE Disk &Disk::operator=(Disk const &other) { return *this; }
SHOP_INLINE const char *name_of(Disk *disk) { return ""; }
#define SHOP_AGAIN ; SHOP_TRY { }
"""


def test_marks_before_functions_and_blocks_go_and_values_stay() -> None:
    plain = read(MARKED)
    assert [line.split() for line in plain.splitlines()] == [
        line.split()
        for line in (
            "Disk::Disk(int free)",
            ": free_(free) {",
            "{",
            "save();",
            "} { return; }",
            "}",
            "void shop::Box<T>::put(int x) { x_ = SHOP_FLAGS{}; }",
            "Disk &Disk::operator=(Disk const &other) { return *this; }",
            'const char *name_of(Disk *disk) { return ""; }',
            "#define SHOP_AGAIN ; SHOP_TRY { }",
        )
    ]
    assert list(map(len, plain.splitlines())) == list(map(len, MARKED.splitlines()))


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("SHOP_NODISCARD SHOP_INLINE std::string Disk::two() const {", "std::string Disk::two() const {"),
        (
            "SHOP_A SHOP_B(f(1)) std::vector<std::string>::iterator Disk::it() {",
            "std::vector<std::string>::iterator Disk::it() {",
        ),
        ("  SHOP_NODISCARD SHOP_INLINE std::string two() const;", "std::string two() const;"),
        ("INL std::string Disk::help() {", "std::string Disk::help() {"),
        ("INL void Disk::turn() {", "void Disk::turn() {"),
        ("SHOP_A SHOP_B static int f() {", "static int f() {"),
        ("SHOP_INLINE Disk *\nDisk::self(int n) {", "Disk *\nDisk::self(int n) {"),
        ("SHOP_INLINE Disk\n*Disk::self(int n) {", "Disk\n*Disk::self(int n) {"),
        ("void PRINTF_LIKE(1, 2) note(char *s, ...);", "void note(char *s, ...);"),
        ("extern const char *SHOP_FMT(1, 2)\n note(char *s);", "extern const char *\n note(char *s);"),
        ("static __printf(1, 2) void note(char *s) {", "static void note(char *s) {"),
        ("static SHOP_API(struct disk *) note(char *s) {", "static struct disk * note(char *s) {"),
        ("void note(char *s) NONNULL(1) {", "void note(char *s) {"),
        ("Disk(int n) SHOP_NOEXCEPT // see\n : n_(n) {", "Disk(int n) // see\n : n_(n) {"),
        (
            "struct Disk {\n  /// @{\n  SHOP_TEMPLATE((A<B> || C(d)),\n    typename T)\n  SHOP_PURE\n  void f(T x);",
            "struct Disk {\n /// @{\n\n\n\n void f(T x);",
        ),
        (
            "template <int N>\nSHOP_A Disk(char (&x)[N]) noexcept(f(x)) : n_{N} {",
            "template <int N>\nDisk(char (&x)[N]) noexcept(f(x)) : n_{N} {",
        ),
        ("  INL explicit Disk(int n) : n_(n) {", "explicit Disk(int n) : n_(n) {"),
        ("void f() SHOP_NOEXCEPT_IF(noexcept(g())) {", "void f() {"),
    ],
)
def test_marks_around_functions_go_without_moving_a_line(marked: str, plain: str) -> None:
    for place in ("%s", "int x;\n%s") if "Disk::" in plain else ("struct Disk {\n%s\n};",):
        body = f"{marked}}}" if marked.endswith("{") else marked
        text = read(place % body)
        assert len(text) == len(place % body)
        assert [line.split() for line in text.split("\n")] == [
            line.split() for line in (place % (f"{plain}}}" if plain.endswith("{") else plain)).split("\n")
        ]


def test_a_function_pointer_of_a_convention_is_no_use_of_a_type() -> None:
    text = "typedef void (A_CDECL *hook)(int size);\nvoid A_CDECL load(int size) {}"
    assert read(text).endswith("\nvoid         load(int size) {}")


def test_a_call_without_a_semicolon_stays_a_call() -> None:
    text = "PRAGMA_OFF(effc++)\nstruct Disk {\n  HOLDS(a, b)\n  int size();\n};"
    assert read(text) == "PRAGMA_OFF(0);    \nstruct Disk {\n             \n  int size();\n};"
    symbols = parse(Source("a.cpp", tuple(text.split("\n"))), CPP).symbols
    assert [(symbol.name, symbol.scope) for symbol in symbols] == [("Disk", ""), ("size", "Disk")]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "template <class D, class T = const Zone *>\nclass Time {\n  int size();\n};",
            "template <class D, class T =       Zone  >\nclass Time {\n  int size();\n};",
        ),
        (
            "auto f(T a) -> decltype(save(a, 1), int()) {\n  return 1;\n}",
            "auto f(T a) -> decltype(save(a, 1)= int()) {\n  return 1;\n}",
        ),
        (
            "auto f(T a) -> decltype(same<T, int>(a), 1) {\n  return 1;\n}",
            "auto f(T a) -> decltype(same<T, int>(a)= 1) {\n  return 1;\n}",
        ),
        (
            "#define OPEN(x) \\\n  struct x { /* a */ \\\n  } /* b */\nint f();",
            "#define OPEN(x) \\\n  struct x {         \\\n  } /* b */\nint f();",
        ),
    ],
)
def test_syntax_that_the_grammar_lacks_is_replaced(text: str, plain: str) -> None:
    assert read(text) == plain
    assert not has_errors(plain)


@pytest.mark.parametrize(
    "text",
    [
        "#if FAST\n#define DISK /* a */\n#endif",  # blanks alone would take the next line as a value
        "#if FAST\n#define DISK(x) \\\n  /* a */\n#endif",
        "#define DISK 1 /* a */ /* b\n ends here */",
        "#define DISK(x) \\\n  x /* b\n ends here */",
    ],
)
def test_comments_at_the_end_of_directives_stay(text: str) -> None:
    text = f"{text}\nint f();\n#define LONG(x) \\\n  x"
    assert read(text) == text
    assert not has_errors(text)


def test_a_file_without_errors_is_not_changed() -> None:
    text = "SIZE f();\ntemplate <class T = int> class Disk {};\nauto g() -> decltype(h(1, 2));\n"
    assert read(text) == text


def test_a_file_of_many_errors_takes_few_parses() -> None:
    text = "\n".join(f"int a{n} M{n}_X b c;" for n in range(3000))
    assert read(text) == text


def targets(text: str) -> dict[int, str]:
    return {
        edge.location.line: edge.target or "|".join(edge.candidates)
        for edge in calls_in(project_of({"a.cpp": text}), "a.cpp")
    }


def test_a_template_whose_result_may_be_invalid_is_not_surely_called() -> None:
    text = (
        "template <class T>\nauto test(T t) -> decltype(t / t) {\n  return t;\n}\nvoid test(...) {}\n"
        "template <class T>\nauto only(T t) -> decltype(t / t) {\n  return t;\n}\n"
        "void run() {\n  test(1);\n  only(1);\n}\n"
    )
    assert targets(text) == {11: "a:test|a:test~2", 12: "a:only"}


def test_no_number_or_text_becomes_an_instance_of_a_template() -> None:
    text = (
        "#include <string>\n"
        "template <class C, class P> void read(const std::basic_string<C> &form, P &place) {}\n"
        "template <class C, class P> void read(const C *form, P &place) {}\n"
        "template <class T> using same_t = T;\n"
        "template <class T> void put(same_t<T> slot, T other) {}\n"
        'void run(int place, std::string form) {\n  read("a", place);\n  read(form, place);\n  put(1, 2.0);\n}\n'
    )
    assert targets(text) == {7: "a:read~2", 8: "a:read", 9: "a:put"}


def test_a_conversion_outside_of_its_class_belongs_to_it() -> None:
    text = (
        "struct Day {\n  int size();\n};\nstruct Date {\n  operator Day() const;\n  Day day() const;\n};\n"
        "inline\nDate::operator Day() const {\n  return day();\n}\nDay day();\n"
    )
    project = project_of({"a.cpp": text})
    names = [
        (definition.qualified, definition.line) for definition in project.index("a.cpp").facts.definitions
    ]
    assert ("Date.operator Day", 9) in names
    assert targets(text)[10] == "a:Date.day"


def test_a_condition_around_the_head_of_a_template_keeps_its_class() -> None:
    text = (
        "class Time {\n public:\n#if NEW\n  template <class T,\n            class = decltype(make<T>())>\n#endif\n  Time();\n"
        "  int size();\n};\nint after();\n"
    )
    symbols = parse(Source("a.cpp", tuple(text.split("\n"))), CPP).symbols
    assert ("size", "Time") in {(symbol.name, symbol.scope) for symbol in symbols}


def test_a_macro_at_the_end_of_a_long_error_is_found() -> None:
    members = "".join(f"  int size{number}();\n" for number in range(60))
    old = '  template <typename T>\n  OLD("Use as_map(), as_bool()")\n  T get() const {\n    return T(1);\n  }\n'
    text = f"#ifndef A\nclass Disk {{\n{members}{old}{members.replace('size', 'free')}}};\n#endif"
    assert "OLD" not in read(text)
    symbols = parse(Source("a.cpp", tuple(text.split("\n"))), CPP).symbols
    assert ("get", "Disk") in {(symbol.name, symbol.scope) for symbol in symbols}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class DISK_API Disk DISK_FINAL : public Base {\n public:\n  void load();\n};", ("load", "Disk")),
        ("namespace shop _SHOP_VISIBLE(default) {\nint load();\n}", ("load", "shop")),
        ("class Disk {\n  int size() const _SHOP_NOEXCEPT\n  { return 1; }\n};", ("size", "Disk")),
        ("_SHOP_LOCAL\nvoid __load(int a, int b = 0)\n{\n  run();\n}", ("__load", "")),
        ("inline __complex__ float\n__load(__complex__ float a) { return a; }", ("__load", "")),
    ],
)
def test_words_around_a_name_are_left_out_and_the_name_stays(text: str, name: tuple[str, str]) -> None:
    text = f"{text}\nint after();"
    symbols = parse(Source("a.cpp", tuple(text.split("\n"))), CPP).symbols
    assert {name, ("after", "")} <= {(symbol.name, symbol.scope) for symbol in symbols}
