"""Targets of C++ calls by templates, texts, addresses, iterators, and macros that hide code."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

DISK = "class Disk {\n public:\n  int size() const;\n};\nclass Tape {\n public:\n  int size() const;\n};\n"
#: subject → (text of `a.cpp`, line → targets of its calls, several for an unsure one)
CASES = {
    "a base gives its template's parameter": (
        (
            f"{DISK}template <class Self> class Option {{\n public:\n  Self *required();\n}};\n"
            "class Flag : public Option<Flag> {\n public:\n  void check();\n};\n"
            "void run(Flag *flag) {\n  flag->required()->check();\n}\n"
        ),
        {18: {"Option.required", "Flag.check"}},
    ),
    "a template's parameter has a default": (
        (
            f"{DISK}template <typename T = Disk> T *make();\ntemplate <typename T = Tape>\nT *take(int slot) {{ return 0; }}\n"
            "void run() {\n  take(1)->size();\n}\n"
        ),
        {13: {"take", "Tape.size"}},
    ),
    "a template's parameter of any name takes anything": (
        (
            "struct App {\n  void add(int slot);\n  template <class AssignTo> void add(AssignTo &value) {}\n};\n"
            "void run(App app, double *text) {\n  app.add(text);\n}\n"
        ),
        {6: {"App.add~2"}},
    ),
    "a wide text": (
        (
            "int load(const char *path);\nint load(const char *path) { return 0; }\nint load(const wchar_t *path) { return 1; }\n"
            'void run() {\n  load("a");\n  load(L"a");\n}\n'
        ),
        {5: {"load"}, 6: {"load~2"}},
    ),
    "a text in a macro, and a type for characters": (
        (
            "typedef char char_t;\n#define TEXT(t) t\nclass Node {\n public:\n  Node child(string_view_t name) { return *this; }\n"
            "  Node child(const char_t *name) { return *this; }\n};\n"
            'void run(Node node) {\n  node.child(TEXT("a"));\n  node.child("a");\n}\n'
        ),
        {9: {"Node.child~2", "TEXT"}, 10: {"Node.child~2"}},
    ),
    "a macro with a text may return anything": (
        '#define HASH(t) 7\nint save(int key) { return 1; }\nint save(long key) { return 2; }\nint run() {\n  return save(HASH("a"));\n}\n',
        {5: {"HASH", "save|save~2"}},
    ),
    "an address is no value": (
        "class App {};\nvoid retire(App *app) {}\nvoid retire(App &app) {\n  retire(&app);\n}\n",
        {4: {"retire"}},
    ),
    "a type that the file names in full": (
        (
            "namespace cli {\nclass Validator {};\nclass Range : public Validator {\n public:\n  Range(int low, int high);\n};\n"
            "class Other {};\nstruct Option {\n  void check(Other other);\n  void check(Validator validator);\n};\n}\n"
            "void run(cli::Option *option) {\n  option->check(cli::Range(1, 2));\n}\n"
        ),
        {14: {"cli.Option.check~2", "cli.Range"}},
    ),
    "overloads of one type on an unknown receiver": (
        (
            "class Node {\n public:\n  void child_of(int at) {}\n  void child_of(const char *name) {}\n};\n"
            'void run() {\n  unknown().child_of("a");\n}\n'
        ),
        {7: {"Node.child_of~2"}},
    ),
    "macros that open and close name spaces": (
        (
            "#define SHOP_BEGIN namespace shop { namespace impl {\n#define SHOP_END } }\n\n// memory\nSHOP_BEGIN\n"
            "int save(int n) { return n; }\nSHOP_END\nint run() {\n  return shop::impl::save(1);\n}\n"
        ),
        {9: {"shop.impl.save"}},
    ),
    "macros of several lines that open name spaces": (
        (
            "#define SHOP_BEGIN      \\\n  namespace shop        \\\n  {                     \\\n  inline namespace SHOP_JOIN( \\\n    v, \\\n    SHOP_VERSION) \\\n  {\n"
            "#define SHOP_END        \\\n  } /* inline (name space) */ \\\n  } // shop\nSHOP_BEGIN\nint save(int n) { return n; }\nSHOP_END\n"
            "int run() {\n  return shop::save(1);\n}\n"
        ),
        {15: {"shop.save"}},
    ),
    "macros of another file with the name space as their argument": (
        (
            "namespace shop {\nSHOP_NAMESPACE_BEGIN(impl)\nint save(int n) { return n; }\nSHOP_NAMESPACE_END(impl)\n}\n"
            "int run() {\n  return shop::impl::save(1);\n}\n"
        ),
        {7: {"shop.impl.save"}},
    ),
    "a class behind a macro, with a macro as access label, and blocks of macros": (
        (
            "namespace shop {\n/* any\n*/\nSHOP_TEMPLATE_HEAD\nclass Disk // big\n  : public Base\n{\n  SHOP_PRIVATE_IN_USE:\n"
            "  union Slot { int n; };\n  void check()\n  {\n#if SHOP_SAFE\n    SHOP_TRY\n    {\n    }\n    SHOP_CATCH(...) {}\n#endif\n  }\n"
            " public:\n  bool full() const { return true; }\n};\n}\nbool run(shop::Disk disk) {\n  return disk.full();\n}\n"
        ),
        {24: {"shop.Disk.full"}},
    ),
    "an array whose size is a template's parameter": (
        (
            f"{DISK}struct Shop {{\n  template <int N> std::array<const Disk*, N> disks(int at) {{ return {{}}; }}\n"
            "  void run() {\n    const auto some = disks<2>(1);\n    some[0]->size();\n  }\n};\n"
        ),
        {12: {"Shop.disks"}, 13: {"Disk.size"}},
    ),
    "type arguments that the call writes": (
        (
            "template <class T> int same(T a, T b) { return 1; }\nint same(int a, double b) { return 2; }\n"
            "template <class T> int pick(T a, T b) { return 1; }\ntemplate <class T> int pick(T a, int b) { return 2; }\n"
            "struct Disk {\n  int at(long slot) { return 1; }\n  template <class T> T at(int slot) { return slot; }\n};\n"
            "void run(Disk &disk) {\n  same<double>(1, 2.0);\n  same(1, 2.0);\n  pick<double>(1, 2.0);\n  disk.at<char>(2);\n}\n"
        ),
        {10: {"same"}, 11: {"same~2"}, 12: {"pick|pick~2"}, 13: {"Disk.at~2"}},
    ),
    "a number by decltype": (
        "using count_t = decltype(1);\nvoid save(long n) {}\nvoid save(count_t n) {}\nvoid run() {\n  save(3);\n}\n",
        {5: {"save~2"}},
    ),
    "a type of the library that the project declares again": (
        (
            "namespace std {\ntemplate <class C> class basic_string {};\nusing string = basic_string<char>;\n}\n"
            'void run() {\n  std::string("a");\n}\n'
        ),
        {6: set()},
    ),
    "a class with macros as results, and words before dependent names": (
        (
            "class Stack {\n public:\n  template <typename T> T *push(int n) { return 0; }\n};\n"
            "template <typename C>\nclass Value {\n  Stack stack_;\n public:\n"
            "  template <typename T> friend SHOP_IF((Same<T>), (bool)) same(const T &a, const Value &b) { return b == a; }\n"
            "  template <typename T>\n  SHOP_IF((Not<Same<typename Bare<T>::Type, C> >),(Value &)) operator[](T *name) {\n    return *this;\n  }\n"
            "  bool full() const { return true; }\n"
            "  void fill() { stack_.template push<C>(1); full(); }\n};\n"
            "bool run(Value<int> value) {\n  return value.full();\n}\n"
        ),
        {15: {"Stack.push", "Value.full"}, 18: {"Value.full"}},
    ),
    "a template of the project with the name of a container, in a name space": (
        (
            "namespace shop {\ntemplate <class T> class Stack {\n public:\n  bool full() const { return true; }\n  T &top();\n};\n}\n"
            "class Slot {\n public:\n  void fill() {}\n};\n"
            "class Disk {\n  shop::Stack<Slot> slots_;\n public:\n  void save(const shop::Stack<Slot> &other) {\n"
            "    slots_.full();\n    slots_.top().fill();\n    other.full();\n  }\n};\n"
        ),
        {16: {"shop.Stack.full"}, 17: {"shop.Stack.top", "Slot.fill"}, 18: {"shop.Stack.full"}},
    ),
    "elements of a type with iterators": (
        (
            f"{DISK}class Shop {{\n public:\n  class Iterator {{\n   public:\n    const Tape &operator*() {{ return tape_; }}\n    Tape tape_;\n  }};\n"
            "  Iterator begin() const { return Iterator(); }\n  Iterator end() const { return Iterator(); }\n};\n"
            "void run(Shop shop) {\n  for (const auto &tape : shop) {\n    tape.size();\n  }\n}\n"
        ),
        {21: {"Tape.size"}},
    ),
    "a dependent name with a number as its argument, in a file that is repaired": (
        (
            "class Disk {\n public:\n  template <int N> void put(int slot) {}\n};\n"
            "template <class T> void run(Disk &disk) {\n  disk.template put<0>(1);\n  disk.template put<sizeof(T)>(1);\n}\n"
            "class SHOP_API(1) Tape {\n};\n"
        ),
        {6: {"Disk.put"}, 7: {"Disk.put"}},
    ),
    "elements of an array whose type has iterators": (
        (
            f"{DISK}struct Tapes {{\n  Tape *begin();\n  Tape *end();\n  void close() {{}}\n}};\n"
            "void run(Tapes *more) {\n  Tapes some[3];\n  some[0].close();\n  more[1].close();\n"
            "  for (auto &tape : *more) {\n    tape.size();\n  }\n}\n"
        ),
        {16: {"Tapes.close"}, 17: {"Tapes.close"}, 19: {"Tape.size"}},
    ),
    "elements of a template of the project, by its operator and its iterators": (
        (
            f"{DISK}namespace shop {{\ntemplate <class T> struct Vec {{\n  T *begin();\n  T *end();\n  T &operator[](int at);\n}};\n}}\n"
            "void run(shop::Vec<Tape> tapes) {\n  tapes[0].size();\n  for (auto &tape : tapes) {\n    tape.size();\n  }\n}\n"
        ),
        {17: {"shop.Vec.operator[]", "Tape.size"}, 19: {"Tape.size"}},
    ),
    "macros between a result and a name": (
        (
            "class Text {\n public:\n  template <class T> SHOP_NODISCARD T as() const { return T(); }\n};\n"
            "int SHOP_CALL sell(int n) { return n; }\nstatic UINT_PTR give(int n) { return 0; }\n"
            "void run(Text text) {\n  text.as<int>();\n  sell(1);\n  give(1);\n}\n"
        ),
        {8: {"Text.as"}, 9: {"sell"}, 10: {"give"}},
    ),
    "macros without a semicolon in a class": (
        (
            "class Failure {\n  SHOP_FAILURE(Base, Failure)\n  SHOP_SIMPLE(Failure)\n  Failure(int a, int b) : Failure(a) {}\n"
            "  static Failure missing(int name) { return Failure(name, 1); }\n};\nclass Other {\n  SHOP_FAILURE(Base, Other)\n"
            "  static Other found(int name);\n};\nvoid run() {\n  Failure::missing(1);\n  Other::found(2);\n}\n"
        ),
        {12: {"Failure.missing"}, 13: {"Other.found"}},
    ),
    "iterators by name, of a map with an order, in a list of variables, in braces, in a capture": (
        (
            f"{DISK}typedef std::map<int, Disk *, Order> Disks;\ntypedef Disks::const_iterator Each;\n"
            "class Shelf {\n public:\n  using iterator = std::vector<Tape, Pool>::iterator;\n  iterator begin();\n};\n"
            "void run(Disks &disks, Shelf &shelf) {\n  Each disk = disks.begin();\n  disk->second->size();\n"
            "  auto one = shelf.begin(), two = shelf.begin();\n  two->size();\n  auto tape{shelf.begin()};\n"
            "  each([last = tape]() { last->size(); });\n}\n"
        ),
        {18: {"Disk.size"}, 20: {"Tape.size"}, 22: {"Tape.size"}},
    ),
    "a library's function that the project overloads": (
        (
            "struct Fault {};\nnamespace std {\ninline string to_string(const Fault &fault) { return string(); }\n}\n"
            "void run(Fault fault, int n) {\n  std::to_string(n);\n  std::to_string(fault);\n}\n"
        ),
        {6: set(), 7: {"std.to_string"}},
    ),
    "functions that return what they make, without a type": (
        (
            f"{DISK}auto make() {{ return Disk{{}}; }}\n"
            "auto chosen(bool wide) { if constexpr (WIDE) { return Tape(); } else { return Tape(); } }\n"
            "decltype(auto) again() { return make(); }\nauto given() { return [] { return Tape(); }; }\n"
            "struct Shelf {\n  auto& disk() { return disk_; }\n  Disk disk_;\n};\n"
            "void run(Shelf shelf) {\n  make().size();\n  auto tape = chosen(true); tape.size();\n"
            "  again().size();\n  shelf.disk().size();\n  given().size();\n}\n"
        ),
        {
            18: {"make", "Disk.size"},
            19: {"chosen", "Tape.size"},
            20: {"again", "Disk.size"},
            21: {"Shelf.disk", "Disk.size"},
            22: {"given"},
        },
    ),
    "specialised templates without a general one": (
        (
            "template <class T, bool kept> class Held;\ntemplate <class T> class Held<T, true> {\n public:\n  T get() { return T(); }\n"
            "  void keep() {}\n};\ntemplate <class T> class Held<T, false> {\n public:\n  T get() { return T(); }\n};\n"
            "using Answer = Held<int, true>;\nvoid run(Answer answer) {\n  answer.get();\n  answer.keep();\n}\n"
        ),
        {13: {"Held.get|Held.get~2"}, 14: {"Held.keep"}},
    ),
    "a declaration with a function as its parameter's default": (
        (
            "int start(int *count, char **words, void (*help)() = tell);\n"
            "int start(int *count, char **words, void (*help)()) { return 0; }\n"
            "void run(int count, char **words) {\n  start(&count, words);\n}\n"
        ),
        {4: {"start~2"}},
    ),
    "a variable of a name space, and its value": (
        (
            "namespace shop {\nnamespace {\nclass Rows : public std::queue<int> {\n public:\n  void put(int row) {}\n};\n"
            "Rows make() { return Rows(); }\nRows *const rows = new Rows();\nauto more = make();\n}\n"
            "void run() {\n  rows->put(1);\n  more.put(2);\n}\n}\n"
        ),
        {8: {"shop.Rows"}, 9: {"shop.make"}, 12: {"shop.Rows.put"}, 13: {"shop.Rows.put"}},
    ),
    "a base of another name space by its plain name": (
        (
            "namespace deep {\nclass Console {\n public:\n  Console() {}\n  virtual void print(int row) {}\n};\n}\n"
            "class Quiet : public deep::Console {\n  void print(int row) {\n    Console::print(row);\n  }\n};\n"
        ),
        {10: {"deep.Console.print"}},
    ),
    "what a macro before a result of a nested type, and conditions on one name, leave": (
        (
            "class Rows {\n  struct Row { void read(); };\n  Row first();\n  bool fill(int n);\n};\n"
            "inline SHOP_INLINE Rows::Row Rows::first() { return Row(); }\n"
            "inline bool Rows::fill(int n) {\n#ifdef SHOP_PLAIN\n  (void)n;\n#else\n  try {\n#endif\n  first();\n#ifndef SHOP_PLAIN\n"
            "  }\n  catch (const Fault &fault) {\n  }\n#endif\n  return true;\n}\n"
            "void run(Rows rows) {\n  rows.first().read();\n  rows.fill(1);\n}\n"
        ),
        {13: {"Rows.first~2"}, 22: {"Rows.first~2", "Rows.Row.read"}, 23: {"Rows.fill~2"}},
    ),
    "parts of a map's and a list's pairs": (
        (
            f"{DISK}void run(std::map<int, Disk> disks, std::vector<std::pair<int, std::shared_ptr<Tape>>> rows) {{\n"
            "  for (auto const& [name, disk] : disks) disk.size();\n  for (auto [name, tape] : rows) tape->size();\n"
            "  rows.front().second->size();\n}\n"
        ),
        {10: {"Disk.size"}, 11: {"Tape.size"}, 12: {"Tape.size"}},
    ),
    "operators of literals": (
        (
            'namespace units {\nint operator"" _km(unsigned long long n) { return n; }\n'
            'int operator""_id(const char *text, unsigned long n) { return n; }\nint all = 1_km;\n}\n'
            'void run() {\n  using namespace units;\n  auto far = 2_km;\n  auto name = "disk"_id;\n  auto plain = "s"s;\n}\n'
        ),
        {
            4: {'units.operator""_km'},
            8: {'units.operator""_km'},
            9: {'units.operator""_id'},
            10: set(),
        },
    ),
    "the element of a type with an operator for it, and results with two pointers": (
        (
            f"{DISK}struct Shelf {{\n  const Disk& operator[](const std::string& name) const;\n  char** rows() const {{ return 0; }}\n"
            "  Disk** all();\n};\n"
            'void run(Shelf shelf, Disk *disks) {\n  shelf["a"].size();\n  disks[0].size();\n  shelf.rows();\n  shelf.all();\n}\n'
        ),
        {
            15: {"Shelf.operator[]", "Disk.size"},
            16: {"Disk.size"},
            17: {"Shelf.rows"},
            18: {"Shelf.all"},
        },
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_calls_lead_to_the_right_definitions(what):
    text, wanted = CASES[what]
    targets = {line: set() for line in wanted}
    for edge in calls_in(project_of({"a.cpp": text}), "a.cpp"):
        if edge.location.line in targets:
            ids = [edge.target] if edge.target else edge.candidates
            targets[edge.location.line].add("|".join(target_id.rpartition(":")[2] for target_id in ids))
    assert targets == wanted
