"""The search for marks that C++'s grammar does not know."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.graph.facts import macros

#: parts of marks and of the text around them
PARTS = (
    "class|struct|final|SHOP_API|_API|A_|FOO(|(x)|ABSL_FLAG(bool, a, true)|;|{|}|:|inline|static|int f(|X GUARDED_BY(mu)"
    "|Disk<T>::|~Disk(|operator==(|const|: x(1)|__PRINTF(1, 2)|x_UNUSED|UNUSED|LOCKS_EXCLUDED(m)|NOEXCEPT|=|override|Disk|std::x<y>|>|#define|if|//|\u00e9| |\n|\t| \n "
).split("|")
TEXTS = st.lists(st.sampled_from(PARTS), max_size=12).flatmap(
    lambda parts: st.sampled_from(("", " ")).map(lambda gap: gap.join(parts))
)


@settings(max_examples=400, deadline=None)
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
    plain = macros.unmark(MARKED)
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
