"""Targets of C++ calls by numbers, arrays, defaults and const, and members of groups of tests."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

#: subject → (path → text, line of `a.cpp` → targets of its calls, several for an unsure one)
CASES = {
    "a group of tests has members": (
        {
            "disk.hpp": "class Disk {\n public:\n  void save() {}\n};\n",
            "a.cpp": (
                '#include "disk.hpp"\nTEST_GROUP(Disk)\n{\n  Disk* disk;\n  void setup() SHOP_OVERRIDE { disk = new Disk(); }\n'
                "  void fill(int count)\n  {\n    disk->save();\n  }\n};\n"
                "TEST(Disk, Saves)\n{\n  fill(2);\n  disk->save();\n  Disk other;\n  other.save();\n}\n"
            ),
        },
        {8: {"Disk.save"}, 13: {"DiskTests.fill"}, 14: {"Disk.save"}, 16: {"Disk.save"}},
    ),
    "a group of tests has a base": (
        {
            "a.cpp": (
                "struct Shelf {\n  void clear() {}\n};\nTEST_GROUP_BASE(Tape, Shelf) {\n  void wind() { clear(); }\n};\n"
                "TEST(Tape, Winds) {\n  wind();\n  clear();\n}\n"
            )
        },
        {5: {"Shelf.clear"}, 8: {"TapeTests.wind"}, 9: {"Shelf.clear"}},
    ),
    "a macro's block that ends as a function's": (
        {
            "a.cpp": "void save() {}\nSHOP_CASE(Disk)\n{\n  save();\n}\nstatic int rows[] = {\n  1,\n};\nvoid run() { save(); }\n"
        },
        {4: {"save"}, 9: {"save"}},
    ),
    "a macro's block that ends as a struct's, with statements": (
        {
            "a.cpp": "struct Disk {\n  void save() {}\n};\nSHOP_LONG_CASE(saves)\n{\n  Disk disk;\n  disk.save();\n};\nSHOP_LONG_CASE(d) {\n  Disk d;\n  d.save();\n};\n"
        },
        {7: {"Disk.save"}, 11: {"Disk.save"}},
    ),
    "a template's parameter has one type, by two names": (
        {
            "a.cpp": (
                "typedef int num;\nstruct Disk {};\ntypedef Disk Drive;\ntemplate <class T> void same(T one, T two) {}\nvoid same(int one, double two) {}\n"
                "void same(Disk one, int two) {}\nvoid run(num one, Disk disk, Drive drive) {\n  same(one, 1);\n  same(disk, drive);\n}\n"
            )
        },
        {8: {"same"}, 9: {"same"}},
    ),
    "the size of an array is no parameter or variable": (
        {
            "a.cpp": (
                "enum { SIZE = 2 };\nvoid put(char text[SIZE], int n) {}\nvoid put(char text[SIZE], double n) {}\n"
                "void put(int a, int b, int c) {}\nvoid run() {\n  char text[SIZE];\n  put(text, 2);\n  put(text, 2.0);\n  put(1, 2, SIZE);\n}\n"
            )
        },
        {7: {"put"}, 8: {"put~2"}, 9: {"put~3"}},
    ),
    "a variable named like a number's type": (
        {
            "a.cpp": "void put(int n) {}\nvoid put(const char* text) {}\nvoid run(unsigned byte) {\n  put(byte + 1);\n  put(2 * 3);\n}\n"
        },
        {4: {"put|put~2"}, 5: {"put"}},
    ),
    "a number by its type's name": (
        {
            "a.cpp": (
                "#include <cstdint>\nvoid put(int n) {}\nvoid put(unsigned n) {}\nvoid put(int64_t n) {}\nvoid put(double n) {}\n"
                "void run() {\n  put(unsigned(2));\n  put(int64_t(2));\n  put(double(2));\n  put(long(2));\n  put(int(2.0));\n}\n"
            )
        },
        {7: {"put~2"}, 8: {"put~3"}, 9: {"put~4"}, 10: {"put~3"}, 11: {"put"}},
    ),
    "long numbers, and names for them": (
        {
            "a.cpp": (
                "typedef long long big_t;\nusing small_t = unsigned short;\nvoid put(long n) {}\nvoid put(big_t n) {}\n"
                "void put(long double n) {}\nvoid cut(small_t n) {}\nvoid cut(double n) {}\n"
                "void run(long one, long long two, big_t three, long double four, small_t five) {\n"
                "  put(one);\n  put(two);\n  put(three);\n  put(2ll);\n  put(four);\n  cut(five);\n}\n"
            )
        },
        {9: {"put"}, 10: {"put~2"}, 11: {"put~2"}, 12: {"put~2"}, 13: {"put~3"}, 14: {"cut"}},
    ),
    "numbers are no values of an enumeration": (
        {
            "a.cpp": "enum Kind { DISK };\nvoid put(Kind kind) {}\nvoid put(bool set) {}\nvoid run(Kind kind) {\n  put(2);\n  put(kind);\n}\n"
        },
        {5: {"put~2"}, 6: {"put"}},
    ),
    "a template's parameter has one type": (
        {
            "a.cpp": (
                "template <class T> void same(T one, T two) {}\nvoid same(int one, double two) {}\n"
                "template <class... All> void each(const All&... all) {}\nvoid each(int one) {}\n"
                "void run() {\n  same(1, 2.0);\n  same(2.0, 1.0);\n  each(1, 2.0);\n}\n"
            )
        },
        {6: {"same~2"}, 7: {"same"}, 8: {"each"}},
    ),
    "arrays of containers": (
        {
            "a.cpp": (
                "#include <vector>\nstruct Disk {\n  void save() {}\n};\nvoid run() {\n  std::vector<Disk> shelves[2];\n"
                "  for (auto& shelf : shelves) {\n    shelf.save();\n    for (auto& disk : shelf) disk.save();\n  }\n  shelves[0][1].save();\n}\n"
            )
        },
        {8: set(), 9: {"Disk.save"}, 11: {"Disk.save"}},
    ),
    "a default that one of two methods says, const and not": (
        {
            "node.hpp": (
                "class Node {\n public:\n  const Node* first(const char* name = 0) const;\n"
                "  Node* first(const char* name = 0) { return const_cast<Node*>(const_cast<const Node*>(this)->first(name)); }\n};\n"
            ),
            "node.cpp": '#include "node.hpp"\nconst Node* Node::first(const char* name) const { return this; }\n',
            "a.cpp": '#include "node.hpp"\nvoid run(Node* node) {\n  node->first("a")->first();\n}\n',
        },
        {3: {"node:Node.first", "node.hpp:Node.first~2"}},
    ),
    "overloads of other folders": (
        {
            "core/text.hpp": "struct Value {};\nint text(bool flag);\nint text(double number);\nint text(const Value& value);\n",
            "core/text.cpp": '#include "text.hpp"\nint text(bool flag) { return 0; }\nint text(double number) { return 1; }\n',
            "more/value.cpp": '#include "../core/text.hpp"\nint text(const Value& value) { return 2; }\n',
            "more/a.cpp": (
                '#include "../core/text.hpp"\nvoid run(const Value& value) {\n  text(2.0);\n  text(true);\n  text(value);\n}\n'
            ),
        },
        {3: {"core/text:text~2"}, 4: {"core/text:text"}, 5: {"more/value:text"}},
    ),
}


def targets_by_line(texts, lines):
    """Return line of `a.cpp` → targets of its calls, several of an unsure one joined by `|`."""
    path = next(path for path in texts if path.endswith("a.cpp"))
    targets = {line: set() for line in lines}
    for edge in calls_in(project_of(texts), path):
        if edge.location.line in targets:
            ids = [edge.target] if edge.target else edge.candidates
            names = (target if len(texts) > 2 else target.rpartition(":")[2] for target in ids)
            targets[edge.location.line].add("|".join(names))
    return targets


@pytest.mark.parametrize("what", CASES)
def test_calls_lead_to_the_right_definitions(what):
    texts, wanted = CASES[what]
    assert targets_by_line(texts, wanted) == wanted
