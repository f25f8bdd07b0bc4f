"""The search for marks that C++'s grammar does not know."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.graph.facts.repairs import macros
from tests.drawn_examples import scaled

#: parts of marks and of the text around them
PARTS = (
    "class|struct|enum|final|SHOP_API|SHOP_NAMESPACE|\n  SHOP_A(b)\n|if SHOP_A(b)|noexcept SHOP_API;|// a\n|_API|A_|FOO(|(x)|ABSL_FLAG(bool, a, true)|;|{|}|:|inline|static|int f(|X GUARDED_BY(mu)"
    "|Disk<T>::|~Disk(|operator==(|const|: x(1)|__PRINTF(1, 2)|x_UNUSED|UNUSED|LOCKS_EXCLUDED(m)|NOEXCEPT|=|override|Disk|std::x<y>|>|#define|if|//|[[x]]|INL|template <class T> |SHOP_IF((A<T>), (Disk&)) |friend|x.template put<T>(|->template|(typename T::D(|return typename T::D(|API(f(x))|disk_export|void|void PRINTF_LIKE(1, 2) |static API(int) |note(|__printf(1, 2) |else|Disk::Disk(|Disk::~Disk(|return|\u00e9| |\n|\t| \n "
    "|\n}else |explicit |Disk(int n)\n : x(1)|\n  SHOP_IF(x) {|\n  } else"
).split("|")
TEXTS = st.lists(st.sampled_from(PARTS), max_size=12).flatmap(
    lambda parts: st.sampled_from(("", " ")).map(lambda gap: gap.join(parts))
)


@settings(max_examples=scaled(400), deadline=None)
@given(TEXTS)
def test_unmark_finds_each_mark_that_an_exhaustive_search_finds(text: str) -> None:
    assert macros.unmark(text) == macros._MARKS.sub(macros._blank_mark, text)


def test_few_places_of_plain_code_are_looked_at() -> None:
    code = "\n".join(
        f"static int save_{n}(struct disk *disk, int flags)\n{{\n  if(flags & DISK_FULL)\n    return ERR_FULL;\n  return {n};\n}}\n"
        for n in range(500)
    )
    marked = f"{code}\nclass SHOP_API Disk {{\n  int free GUARDED_BY(mutex);\n}};\n"
    assert set(macros._mark_starts(code)) == {0}
    assert len(set(macros._mark_starts(marked))) <= 3


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("class SHOP_API\nDisk {", "class\nDisk {"),
        ("class [[nodiscard]] SHOP_API Disk {", "class Disk {"),
        ("class SHOP_ALIGN(16) [[nodiscard]] Disk {", "class Disk {"),
        ('class SHOP_DEPRECATED("use (other)") Disk : Base {', "class Disk : Base {"),
        ("struct shop_export Disk {", "struct Disk {"),
        ("struct gsl_Owner Disk final {", "struct Disk final {"),
        (
            'TEST_CASE_METHOD(Fix, "Saves it: twice", "[a][b]") {',
            "TEST_CASE_METHOD(Fix, _Saves_it__twice ) {",
        ),
        ('TEST_CASE_FIXTURE(Fix,\n  "1st") {', "TEST_CASE_FIXTURE(Fix,\n _1st ) {"),
        (
            "template <class T> SHOP_IF((Or<Bare<T>, Same<T> >), (Disk&)) operator=(T x) {",
            "template <class T> Disk& operator=(T x) {",
        ),
        (
            "template <class T>\n  SHOP_IF((Not<Same<typename Bare<T>::Type> >),(Disk&))\n  put(T x);",
            "template <class T>\n Disk&\n put(T x);",
        ),
        (
            "template <class T> friend SHOP_IF((A<T>), (bool)) same(T x);",
            "template <class T> friend bool same(T x);",
        ),
        ("return save(typename T::Disk(1));", "return save( T::Disk(1));"),
        ("return typename Box<T>::Disk(1);", "return Box<T>::Disk(1);"),
        ("/* a */\nSHOP_TYPE\nclass Disk // b\n  : Base {", "/* a */\n\nclass Disk // b\n : Base {"),
        ("  SHOP_PRIVATE_IN_USE:\n  int n;", "\n int n;"),
        ("#if A\n  SHOP_TRY\n  {\n  }\n  SHOP_CATCH(...) {}", "#if A\n\n {\n }\n {}"),
        ("SHOP_NAMESPACE_START // own\n{", "namespace // own\n{"),
        (
            "#define A \\\n  B\n\n// a\n\n/// b\nSHOP_NAMESPACE\n{",
            "#define A \\\n B\n\n// a\n\n/// b\nnamespace\n{",
        ),
        ("/* a */\nSHOP_PURE\nSHOP_RETURNS(nonnull)\nSHOP_API\nint* f();", "/* a */\n\n\n\nint* f();"),
        ("if SHOP_LIKELY(x == 1)", "if (x == 1)"),
        (
            "  SHOP_IF(a(b<c>::d()))\n  {\n    e();\n  }\n  else SHOP_IF(f)\n  {\n  }\n  else {}",
            " if (a(b<c>::d()))\n {\n e();\n }\n else if (f)\n {\n }\n else {}",
        ),
        ("enum SHOP_CLOSED Kind : int {", "enum Kind : int {"),
    ],
)
def test_marks_of_each_kind_go_without_moving_a_line(marked: str, plain: str) -> None:
    for before in ("", "int x;\n"):
        text = macros.unmark(before + marked)
        assert len(text) == len(before + marked)
        assert [line.split() for line in text.split("\n")] == [
            line.split() for line in (before + plain).split("\n")
        ]


@pytest.mark.parametrize(
    "text",
    [
        "  SHOP_EACH(x, disks)\n  {\n  }\n  save();",
        "  SHOP_EACH(x, disks) {\n    if (x) {\n    } else {\n    }\n  }",
        "  SHOP_KIND name(int n) {",
        "  SHOP_KIND name(int n);\n  case A: ::f();",
        "  explicit operator SHOP_KIND() const;",
        "FILE *Disk::file() {",
        "FILE Disk::file() {",
        "DWORD WINAPI run(int n) {",
        "BOOL const Disk::on() {",
        "  FULL return turn(1);",
        "struct stat buffer{};",
        "#define INL_ALL INL void turn() {",
        'CHECK_METHOD("a", "b");',
        "SHOP_API(void) note(char *s) {",
        "  FOREACH(disk, disks) note(disk);",
        "enum DISK_KIND\n{",
        "  case DISK_FULL: return;",
        "  x = full ? DISK_FULL:\n    DISK_FREE;",
        "  else FOREACH(disk, disks) note(disk);",
        "void note(a) int (*a)(); {",
        "#define SHOP_NOTE static void SHOP_FMT(1, 2) note(",
        "void __attribute__((noreturn)) note(int n);",
        "void *__shop_note(int n) SHOP_ALIAS(note);",
        "inline SHOP_RESULT(random, int) random(int n) {",
        "using Text = const SHOP_CHAR;",
        "  SHOP_SIZE size = 1;",
        "  SHOP_CHECK(x)\n  SHOP_CHECK(y);",
        "template <typename T> template <typename U> void Disk<T>::save(U x) {",
        "template <typename T, typename U = typename T::Disk> void save(typename T::Disk x);",
    ],
)
def test_types_and_statements_in_capitals_stay(text: str) -> None:
    assert macros.unmark(text) == text


class Searched(str):  # noqa: SLOT000
    """A text that counts the characters in which `find` has looked."""

    looked_at = 0

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        place = super().find(sub, start, end)
        self.looked_at += (len(self) if place < 0 else place) - start
        return place


@pytest.mark.parametrize("end", ["", "\n  };\n"])
def test_the_ends_of_structs_behind_macros_are_looked_up_once(end: str) -> None:
    heads = "\n  TEST_GROUP(D) {" * 400
    text = Searched(f"struct Disk {{\n}};\n{heads}{end}")
    plain = macros.unmark(text)
    assert ("struct DTests" in plain) == bool(end)
    assert text.looked_at <= 2 * len(text)


def test_macros_that_open_name_spaces_by_others_are_read_in_their_file() -> None:
    defined = (
        "#define SHOP_BEGIN \\\n  namespace shop { \\\n  inline namespace SHOP_VERSION {\n#define SHOP_END } /* A */ \\\n  }\n"
        "#define SHOP_DISKS_BEGIN SHOP_BEGIN \\\n  namespace disks {\n#define SHOP_DISKS_END \\\n  } \\\n  SHOP_END\n"
        "#define SHOP_ODD SHOP_OTHER namespace odd {\n#define SHOP_LOOP SHOP_LOOP namespace x {\n"
    )
    used = "SHOP_DISKS_BEGIN\nint a;\nSHOP_DISKS_END\nSHOP_BEGIN\nSHOP_END\nint b;\nSHOP_ODD\nSHOP_LOOP\n"
    text = macros.unmark(defined + used)
    used_lines = text.splitlines()[defined.count("\n") :]
    assert [line.split() for line in used_lines[:6]] == [
        "namespace shop { inline namespace SHOP_VERSION { namespace disks {".split(),
        ["int", "a;"],
        ["}", "}", "}"],
        "namespace shop { inline namespace SHOP_VERSION {".split(),
        ["}", "}"],
        ["int", "b;"],
    ]
    assert not any("namespace" in line for line in used_lines[6:])
    many = "".join(f"#define A{n + 1} A{n} A{n}\n" for n in range(99))
    assert len(macros.unmark(f"#define A0 namespace a {{\n{many}A99\n")) < 10_000


def test_macros_that_a_file_defines_to_annotate_go() -> None:
    defined = (
        "#ifdef A\n# define CONSTDISK const\n# define NOTHROW _NOEXCEPT // own\n# define SHOWN __declspec(dllexport)\n# define KIND\n#define EMPTY\n"
        '#else\n# define CONSTDISK constexpr\n# define NOTHROW noexcept\n# define SHOWN __attribute__ ((visibility ("default")))\n# define KIND int\n#define EMPTY\n#endif\n'
        "#define CALL(x) inline\n#define LONG inline \\\n  NOTHROW\n#if NOTHROW && SHOWN\n#endif\n"
    )
    used = "SHOWN explicit CONSTDISK Disk(KIND n) NOTHROW; // NOTHROW\nEMPTY NOTHROWS x; LONG CALL(1) y;\n"
    text = macros.unmark(defined + used)
    assert text.startswith(defined)
    assert text[len(defined) :].splitlines() == [
        "      explicit const     Disk(KIND n)        ; //        ",
        "EMPTY NOTHROWS x; LONG CALL(1) y;",
    ]


def test_words_of_the_language_that_a_file_defines_stay() -> None:
    defined = "#define noexcept throw()\n#define constexpr const\n#define inline __inline\n"
    used = "void f() noexcept(false);\nint g() { if constexpr (true) { f(); } }\ninline int h();\n"
    assert macros.unmark(defined + used) == defined + used


def test_text_that_macros_open_is_bounded() -> None:
    defined = "#define A0 namespace a {\n" + "".join(f"#define A{n + 1} A{n} A{n}\n" for n in range(7))
    assert (
        len(macros.unmark(defined + "A7\n" * 20_000)) < macros.SPACES_MAX * macros.SPACE_CHARS_MAX + 100_000
    )
