"""Recognition of C++ in `.h` files."""

import pytest

from cortex.terms.code.headers import is_cpp

CPP = {
    "a class": "class Disk {\n};",
    "a name space": "namespace shop {\n}",
    "an access label": "struct Disk {\n private:\n  int size;\n};",
    "a header of the standard library": "#include <string>\nint size;",
    "a name in a name": "void save(std::string* name);",
    "a constructor": "struct Disk {\n  int size;\n  struct { int a; } inner;\n  Disk(int size);\n};",
    "a constructor on the struct's line": "struct Disk { Disk() {} };",
    "a destructor": "struct Disk {\n  ~Disk();\n};",
    "a reference to a constant": "int size(const Disk& disk);",
    "a reference": "int size(int a, Disk& disk);",
    "a virtual function": "struct Disk {\n  virtual int size();\n};",
    "a member that changes nothing": "struct Disk {\n  int size() const;\n};",
    "a base": "struct Disk : Store {\n};",
    "an operator": "struct Disk {\n  bool operator==(int other);\n};",
    "an enumeration with a scope": "enum class Kind { kSmall };",
    "C's linkage, which no test of the language guards": 'extern "C" {\nint size(void);\n}',
    "a class that a header of both keeps for C++": "#ifdef __cplusplus\nclass Disk {};\n#endif",
}
C = {
    "a struct": "struct disk {\n  int size;\n  int (*save)(struct disk *, int);\n};",
    "bits of a field": "struct disk { unsigned a : 3; unsigned b : 1; };",
    "a function of a struct's name": "struct disk { int size; };\nstruct disk *\ndisk(void);",
    "a remark about a class": "/*\n class of disks, and\n namespace of others\n*/\nint size;",
    "a text with names in names": '#define NAME "std::string"\nint size;',
    "what stands bit by bit": "static int of(int a, int b) {\n  return both(a & b, a & ~b(1));\n}",
    "what says how C++ is to read it": '#ifdef __cplusplus\n#include <cstdint>\nextern "C" {\n#else\n'
    "#include <stdint.h>\n#endif\nint size(void);\n#if defined(__cplusplus)\n}\n#endif",
    "a macro that C++ reads otherwise": "#define AS(a) static_cast<int>(a)\nint size;",
    "a branch that is never closed": '#endif\n#ifdef __cplusplus\nextern "C" {',
}


@pytest.mark.parametrize("text", CPP.values(), ids=CPP)
def test_a_cpp_header_is_recognised_by_its_text(text):
    assert is_cpp(text)


@pytest.mark.parametrize("text", C.values(), ids=C)
def test_a_header_of_c_stays_one(text):
    assert not is_cpp(text)


def test_a_stray_end_of_a_condition_hides_nothing():
    assert is_cpp("#include <string>\n#endif\nint size;")


@pytest.mark.parametrize("line", ["struct a {", "const a", "operator", "", "#ifdef __cplusplus", ") "])
def test_a_header_of_many_equal_lines_is_read_once(line):
    assert not is_cpp("\n".join([line] * 100_000))
