"""Targets of C++ calls by references, constness, conversions and conditions."""

from __future__ import annotations

import pytest

from tests.graph.test_cpp_arguments import targets_by_line

#: subject → (path → text, line of `a.cpp` → targets of its calls, several for an unsure one)
CASES = {
    "a condition in the head of a class": (
        {
            "a.cpp": (
                "namespace shop {\nclass SHOP_API Disk\n#ifdef SHOP_WIDE\n#define SHOP_TEXT(text) L##text\n    : private Base<wchar_t>\n{\npublic:\n"
                "#else\n    : private Base<char>\n{\npublic:\n#endif\n  template <class T>\n#ifdef SHOP_WIDE\n  using part = T;\n#else\n  using part = T *;\n"
                "#endif\n  void save() {}\n};\nvoid wipe(Disk &disk) {}\n}\nvoid run(shop::Disk &disk) {\n  disk.save();\n  shop::wipe(disk);\n}\n"
            )
        },
        {24: {"shop.Disk.save"}, 25: {"shop.wipe"}},
    ),
    "names that a name space takes from others": (
        {
            "a.cpp": (
                "namespace shop { namespace disks {\nstruct Disk {\n  void save() {}\n};\nvoid wipe() {}\nvoid burn() {}\n} }\n"
                "namespace tapes { void wind() {} }\n#ifdef SHOP_STD\nnamespace ds { using namespace std::disks; }\n#else\n"
                "namespace ds { using namespace shop::disks; using tapes::wind; }\n#endif\nnamespace shop { using namespace disks; }\n"
                "void run(ds::Disk disk) {\n  disk.save();\n  ds::wipe();\n  ds::wind();\n  shop::burn();\n  ds::lose();\n}\n"
            )
        },
        {
            16: {"shop.disks.Disk.save"},
            17: {"shop.disks.wipe"},
            18: {"tapes.wind"},
            19: {"shop.disks.burn"},
            20: set(),
        },
    ),
    "a long chain of name spaces that take the next one's names": (
        {
            "a.cpp": (
                "".join(f"namespace n{at} {{ using namespace n{at + 1}; }}\n" for at in range(600))
                + "namespace n600 { void wipe() {} }\nvoid run() {\n  n595::wipe();\n  n0::wipe();\n}\n"
            )
        },
        {603: {"n600.wipe"}, 604: set()},
    ),
    "methods for constant objects": (
        {
            "a.cpp": (
                "namespace shop {\nstruct Disk {\n  int at(int n) { return 1; }\n  int at(int n) const { return 2; }\n  int size() { return 1; }\n"
                "  int size() const { return 2; }\n  void fill() { size(); this->at(1); }\n  void note() const { size(); [&] { this->at(1); }(); }\n"
                "  static void all() { size(); }\n};\nusing Tape = Disk;\nusing Held = std::unique_ptr<const Disk>;\nusing Fixed = const Disk;\ntypedef const Disk Sealed;\n}\n"
                "void run(shop::Disk &changed, const shop::Disk &same, const shop::Disk *pointer, const shop::Held &held) {\n"
                "  shop::Disk local;\n  const shop::Disk fixed{};\n  shop::Tape tape;\n"
                "  const shop::Disk *where = &local;\n  auto made = make();\n  const auto &kept = local;\n  std::unique_ptr<const shop::Disk> owned;\n  shop::Held own;\n"
                "  changed.size();\n  local.size();\n  local.at(1);\n  fixed.size();\n  fixed.at(1);\n  tape.size();\n"
                "  same.size();\n  pointer->size();\n  held->size();\n  where->size();\n  owned->size();\n  own->size();\n  shop::Fixed one; one.size();\n  shop::Sealed two; two.size();\n}\n"
            )
        },
        {
            7: {"shop.Disk.size", "shop.Disk.at"},
            8: {"shop.Disk.size~2", "shop.Disk.at~2"},
            9: {"shop.Disk.size", "shop.Disk.size~2"},
            **{line: {"shop.Disk.size"} for line in (25, 26, 30)},
            27: {"shop.Disk.at"},
            28: {"shop.Disk.size~2"},
            29: {"shop.Disk.at~2"},
            **{line: {"shop.Disk.size", "shop.Disk.size~2"} for line in range(31, 39)},
        },
    ),
    "constant objects in conversions, and copies in lambdas behind a call on the variable": (
        {
            "a.cpp": (
                "struct Disk {\n  int size() { return 1; }\n  int size() const { return 2; }\n  operator bool() const { return size(); }\n"
                "  operator int *() const { return size(); }\n  operator long() { return size(); }\n};\nvoid run() {\n  Disk disk;\n"
                "  disk.size();\n  auto copied = [disk] { disk.size(); };\n  auto same = [&disk] { disk.size(); };\n  auto all = [=] { disk.size(); };\n}\n"
            )
        },
        {
            **{line: {"Disk.size~2"} for line in (4, 5)},
            **{line: {"Disk.size"} for line in (6, 10, 12)},
            **{line: {"Disk.size", "Disk.size~2"} for line in (11, 13)},
        },
    ),
    "declarations of methods for constant objects": (
        {
            "disk.hpp": "struct Disk {\n  int size();\n  int size() const;\n  int free() const;\n  void fill();\n};\n",
            "disk.cpp": (
                '#include "disk.hpp"\nint Disk::size() { return 1; }\nint Disk::size() const { return 2; }\nvoid Disk::fill() { size(); free(); }\n'
                "int Disk::free() const { return size(); }\n"
            ),
            "a.cpp": '#include "disk.hpp"\nvoid run() {\n  Disk disk;\n  disk.size();\n  const Disk other;\n  other.size();\n  other.fill();\n}\n',
        },
        {4: {"disk:Disk.size"}, 6: {"disk:Disk.size~2"}, 7: {"disk:Disk.fill"}},
    ),
    "operator->": (
        {
            "a.cpp": (
                "struct Disk {\n  void save() {}\n};\nstruct Cursor {\n  Disk *operator->() const;\n  void next() {}\n};\n"
                "void run(Cursor cursor) {\n  cursor->save();\n  cursor.next();\n  cursor->lose();\n}\n"
            )
        },
        {9: {"Disk.save"}, 10: {"Cursor.next"}, 11: set()},
    ),
    "classes that no constructor makes of a text": (
        {
            "a.cpp": (
                "enum class Kind { FULL };\nstruct State {\n  explicit State(Kind kind, int mode = 0) {}\n  State(const State &) {}\n};\n"
                "struct Path {\n  using text_type = std::basic_string<char>;\n  Path(const text_type &text) {}\n  void put(const Path &path) {}\n  void put(const text_type &text) {}\n};\n"
                "struct Any {\n  template <class T> Any(T &&t) {}\n};\nbool has(State state) { return true; }\nbool has(const Path &path) { return true; }\n"
                "void put(Any any) {}\nvoid put(Path path) {}\nvoid cut(Path path, Kind kind) {}\nvoid cut(Path path, const Path &base) {}\n"
                'void run(Path path, std::string text) {\n  has("a");\n  has(text);\n  put("a");\n  cut("a", Kind::FULL);\n  path.put(text);\n}\n'
            )
        },
        {22: {"has~2"}, 23: {"has~2"}, 24: {"put|put~2"}, 25: {"cut"}, 26: {"Path.put~2"}},
    ),
    "branches of one condition": (
        {
            "a.cpp": (
                "#ifdef SHOP_WIDE\nint code(unsigned error = 0) { return 1; }\n#else\nint code(int error = 0) { return 2; }\n#endif\n"
                "#ifdef SHOP_WIDE\nint both(unsigned error = 0) { return 1; }\nint both(int error = 0) { return 2; }\n#else\n#endif\n"
                "void run() {\n  code();\n  both();\n}\n"
            )
        },
        {12: {"code", "code~2"}, 13: {"both|both~2"}},
    ),
    "a long chain of branches, and a long head of a template": (
        {
            "a.cpp": (
                "#if A\nint code(unsigned error = 0) { return 1; }\n#elif B\nint code(int error = 0) { return 2; }\n#endif\n"
                "#if A\nint last(unsigned error = 0) { return 1; }\n"
                + "#elif C\n"
                * 9
                + "int last(int error = 0) { return 2; }\n#endif\n"
                "template <class T,"
                + " \\\n"
                * 2000
                + "enable_if_t<!std::is_const<T>::value, int> = 0> void put(T &value) {}\n"
                "template <class T, enable_if_t<std::is_const<T>::value, int> = 0> void put(T &value) {}\n"
                "void run() {\n  code();\n  last();\n  int number = 1;\n  put(number);\n}\n"
            )
        },
        {2022: {"code", "code~2"}, 2023: {"last|last~2"}, 2025: {"put"}},
    ),
    "references to variables, constants and temporary values": (
        {
            "a.cpp": (
                "struct Disk {};\nDisk make();\nvoid put(Disk &disk) {}\nvoid put(Disk &&disk) {}\nvoid cut(Disk &disk, int) {}\nvoid cut(const Disk &disk, int) {}\n"
                "void run(Disk a, Disk &b, const Disk &c) {\n  Disk d;\n  const Disk e;\n  put(b);\n  put(d);\n  put(std::move(d));\n  put(Disk());\n"
                "  put(make());\n  cut(d, 1);\n  cut(e, 1);\n  cut(Disk(), 1);\n  cut(c, 1);\n}\n"
            )
        },
        {
            10: {"put"},
            11: {"put"},
            12: {"put~2"},
            13: {"put~2", "Disk"},
            14: {"put", "put~2"},
            15: {"cut"},
            16: {"cut~2"},
            17: {"cut~2", "Disk"},
            18: {"cut", "cut~2"},
        },
    ),
    "arguments that a conversion makes temporary values": (
        {
            "a.cpp": (
                "struct Disk {};\nstruct Fast : Disk {};\nstruct Url {\n  Url(const std::string &text) {}\n};\n"
                "void add(const std::string &name) {}\nvoid add(std::string &&name) {}\nvoid num(const double &n) {}\nvoid num(double &&n) {}\n"
                "void put(const Disk &disk) {}\nvoid put(Disk &&disk) {}\nvoid get(const Url &url) {}\nvoid get(Url &&url) {}\n"
                "template <class T> struct List {\n  void push(const T &one) {}\n  void push(T &&one) {}\n};\n"
                'void run(List<std::string> list) {\n  std::string name;\n  int n = 1;\n  double d = 2;\n  Fast fast;\n  add("x");\n  add(name);\n'
                '  num(n);\n  num(d);\n  put(fast);\n  get(name);\n  list.push("x");\n}\n'
            )
        },
        {
            23: {"add~2"},
            24: {"add"},
            25: {"num~2"},
            26: {"num"},
            27: {"put"},
            28: {"get~2"},
            29: {"List.push", "List.push~2"},
        },
    ),
    "constants, wherever the qualifier is": (
        {
            "a.cpp": (
                "struct Disk {};\nvoid cut(Disk &disk) {}\nvoid cut(const Disk &disk) {}\nvoid run(Disk own, std::vector<Disk> all) {\n  Disk const a;\n  Disk const &b = own;\n"
                "  const static Disk c;\n  constexpr static Disk d{};\n  const volatile Disk e;\n  cut(a);\n  cut(b);\n  cut(c);\n  cut(d);\n  cut(e);\n"
                "  for (Disk const &f : all) cut(f);\n  auto g = [](const Disk &h) { cut(h); };\n  try { } catch (const Disk &i) { cut(i); }\n"
                "  Disk j;\n  auto k = [j]() { cut(j); };\n  auto l = [=]() { cut(j); };\n  auto m = [&]() { cut(j); };\n"
                "  auto n = [=]() mutable { cut(j); };\n  auto o = [](Disk &h) { cut(h); };\n  auto p = [](auto &&q) { cut(q); };\n}\n"
            )
        },
        {
            **{line: {"cut~2"} for line in range(10, 18)},
            19: {"cut", "cut~2"},
            20: {"cut", "cut~2"},
            21: {"cut"},
            22: {"cut"},
            23: {"cut"},
            24: {"cut", "cut~2"},
        },
    ),
    "a pointer to a constant may change": (
        {
            "a.cpp": (
                "struct App {\n  template <class T, enable_if_t<!std::is_const<T>::value, int> = 0> void add(std::string name, T &value) {}\n"
                "  template <class T, enable_if_t<std::is_const<T>::value, int> = 0> void add(std::string name, T &text) {}\n};\n"
                'void run(App &app) {\n  const char *a = "x";\n  char *const b = a;\n  const char c[] = "x";\n  app.add("a", a);\n  app.add("a", b);\n  app.add("a", c);\n}\n'
            )
        },
        {9: {"App.add"}, 10: {"App.add~2"}, 11: {"App.add~2"}},
    ),
    "templates for constants, and for variables": (
        {
            "a.cpp": (
                "using callback = std::function<void(int)>;\nstruct App {\n"
                "  template <class T, class Written = T, enable_if_t<!std::is_const<Written>::value, int> = 0> void add(std::string name, T &value) {}\n"
                "  template <class T, enable_if_t<std::is_const<T>::value && is_text<T>::value, int> = 0> void add(std::string name, T &text) {}\n"
                "  void add(std::string name, callback call, int times = 1) {}\n"
                "  template <class T, enable_if_t<std::is_const<typename std::remove_reference<T>::type>::value || std::is_rvalue_reference<T &&>::value, int> = 0>\n"
                "  void flag(std::string name, T &&text) {}\n"
                "  template <class T, enable_if_t<!std::is_const<T>::value, int> = 0> void flag(std::string name, T &value) {}\n};\n"
                'TEST_CASE("adds") {\n  App app;\n  int number{0};\n  std::vector<int> rows;\n  const std::string text = "x";\n  app.add("a", number);\n  app.add("a", rows);\n'
                '  app.add("a", text);\n  app.add("a", "b");\n  app.add("a", [](int n) {});\n  app.flag("a", number);\n  app.flag("a", "b");\n}\n'
            )
        },
        {
            15: {"App.add"},
            16: {"App.add"},
            17: {"App.add~2"},
            18: {"App.add~2"},
            19: {"App.add~3"},
            20: {"App.flag~2"},
            21: {"App.flag"},
        },
    ),
    "a copy of the library in one header": (
        {
            "include/shop/disk.hpp": "namespace shop { struct Disk { void save() {} }; void wipe() {} }\n",
            "single_include/shop/disk.hpp": "namespace shop { struct Disk { void save() {} }; void wipe() {} }\n",
            "tests/unit/a.cpp": "#include <shop/disk.hpp>\nvoid run(shop::Disk &disk) {\n  disk.save();\n  shop::wipe();\n}\n",
        },
        {3: {"include/shop/disk.hpp:shop.Disk.save"}, 4: {"include/shop/disk.hpp:shop.wipe"}},
    ),
    "a copy that opens the name space itself": (
        {
            "include/shop/macros.hpp": "#define SHOP_BEGIN namespace shop {\n#define SHOP_END }\n",
            "include/shop/disk.hpp": '#include "macros.hpp"\n\nSHOP_BEGIN\nstruct Disk { void save() {} };\nvoid wipe() {}\nSHOP_END\n',
            "single_include/shop/disk.hpp": (
                "#define SHOP_BEGIN namespace shop {\n#define SHOP_END }\nSHOP_BEGIN\nstruct Disk { void save() {} };\nvoid wipe() {}\nSHOP_END\n"
            ),
            "tests/unit/a.cpp": "#include <shop/disk.hpp>\nvoid run(shop::Disk &disk) {\n  disk.save();\n  shop::wipe();\n}\n",
        },
        {3: {"include/shop/disk.hpp:Disk.save"}, 4: {"include/shop/disk.hpp:wipe"}},
    ),
    "names beside a name space that a macro opens": (
        {
            "macros.hpp": "#define SHOP_BEGIN namespace shop {\n#define SHOP_END }\n",
            "disk.hpp": '#include "macros.hpp"\nSHOP_BEGIN\nstruct Disk { void save() {} };\nSHOP_END\nvoid wipe() {}\nstruct Tape { void wind() {} };\n',
            "inner.hpp": "namespace shop { void wipe() {} struct Tape { void wind() {} }; }\n",
            "a.cpp": (
                '#include "disk.hpp"\n#include "inner.hpp"\nvoid run(shop::Tape &tape) {\n'
                "  shop::wipe();\n  tape.wind();\n  wipe();\n}\n"
            ),
        },
        {
            4: {"inner.hpp:shop.wipe"},
            5: {"inner.hpp:shop.Tape.wind"},
            6: {"disk.hpp:wipe"},
        },
    ),
    "names of the library, and constructors": (
        {
            "a.cpp": (
                "struct Path {\n  Path(int size) {}\n  void wstring() {}\n};\nstruct Folder {\n  int Path() { return 1; }\n};\n"
                "void run() {\n  std::wstring(2);\n  unknown.Path();\n}\n"
            )
        },
        {9: set(), 10: {"Folder.Path"}},
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_calls_lead_to_the_right_definitions(what):
    texts, wanted = CASES[what]
    assert targets_by_line(texts, wanted) == wanted
