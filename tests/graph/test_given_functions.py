"""Functions that are given where an interface, a protocol or a function type is wanted."""

import pytest

from tests.graph.test_truth import edge_lines, load

#: path → (text, all `implements` edges)
PROJECTS = {
    "A.java": (
        """interface Cmp<T> { int compare(T a, T b); default Cmp<T> rev() { return this; } boolean equals(Object o); }
interface Wide { void one(); void two(); }
interface Sub extends Cmp<String> { }
class Shop {
    Cmp<String> held = (a, b) -> 1;
    Sub kept;
    static int by(String a, String b) { return 0; }
    int size(String a, String b) { return 1; }
    Shop(Cmp<String> c) { kept = this::size; }
    void sort(int n, Cmp<String> c) { }
    void wide(Wide w) { }
    void run() { sort(1, (a, b) -> 1); }
    void named() { this.sort(2, Shop::by); wide(null); new Shop(this::size); }
    Cmp<String> made() { return (a, b) -> 1; }
    Cmp<String> local() { Cmp<String> one = Shop::by; return one; }
    void plain(String a) { plain(a); sort(1, one(a)); }
    Runnable outside() { return () -> run(); }
}
""",
        """
A:Sub extends A:Cmp [exact]
A implements A:Cmp [exact]
A:Shop.by implements A:Cmp [exact]
A:Shop.by implements A:Cmp.compare [exact]
A:Shop.run implements A:Cmp [exact]
A:Shop.made implements A:Cmp [exact]
A:Shop.size implements A:Cmp [exact]
A:Shop.size implements A:Cmp.compare [exact]
A:Shop.size implements A:Sub [exact]
""",
    ),
    "a.kt": (
        """package f
fun interface Cmp { fun compare(a: String): Int }
typealias Each = (String) -> Int
class Shop {
    fun size(a: String) = 1
    fun sort(n: Int, c: Cmp) { c.compare("") }
    fun each(e: Each) {}
    fun sum(n: Int, c: (Int) -> Int) {}
    fun made(): Cmp = Cmp { a -> size(a) }
    fun trailing() { sort(1) { size(it) } }
    fun named() { sort(n = 1, c = Cmp(::by)) }
    fun aliased() { each { 1 } }
    fun plain() { sum(1) { it } }
}
fun by(a: String) = 1
""",
        """
a:Shop.made implements a:Cmp [exact]
a:Shop.trailing implements a:Cmp [exact]
a:by implements a:Cmp [exact]
a:by implements a:Cmp.compare [exact]
a:Shop.aliased implements a:Each [exact]
""",
    ),
    "a.cs": (
        """delegate int Handler(string a);
class Shop {
    event Handler On;
    Handler Kept { get; } = Second;
    static int Run(string a) { return 1; }
    static int Second(string a) { return 1; }
    static int Third(string a) { return 1; }
    void Use(Handler h, int n) { }
    void Local() { Handler h = Run; }
    void Added() { On += Third; }
    void Lambda() { Use(a => 1, 3); }
    void Anonymous() { Use(delegate(string a) { return 1; }, 1); }
    void Other(int n) { Use(null, n); }
}
""",
        """
a:Shop.Run implements a:Handler [exact]
a:Shop.Second implements a:Handler [exact]
a:Shop.Third implements a:Handler [exact]
a:Shop.Lambda implements a:Handler [exact]
a:Shop.Anonymous implements a:Handler [exact]
""",
    ),
    "a.ts": (
        """export interface Handler { (a: string): number }
export interface Visitor { visit(a: string): number }
export function run(a: string) { return 1; }
export function use(n: number, h: Handler) { h("a"); }
export function either(v: Visitor | ((a: string) => number)) {}
export const held: Handler = (a) => 1;
export function lambda() { use(1, (a) => 2); }
export function named() { use(1, run); either((a) => 1); }
export class Page {
  h: Handler = (a) => 1;
  made(): Handler { return (a) => 1; }
  set() { this.h = run; }
}
""",
        """
a:held implements a:Handler [exact]
a:held implements a:Handler.call [exact]
a:lambda implements a:Handler [exact]
a:run implements a:Handler [exact]
a:run implements a:Handler.call [exact]
a:Page.h implements a:Handler [exact]
a:Page.h implements a:Handler.call [exact]
a:Page.made implements a:Handler [exact]
""",
    ),
    "a.go": (
        """package a

type HandlerFunc func(a string) int
type Name string

func run(a string) int { return 1 }
func second(a string) int { return 1 }
func use(n int, h HandlerFunc) {}
func take(n Name) {}
func named() { use(1, run); take(Name("x")) }
func converted() { take(HandlerFunc(second)) }
func lambda() { use(1, func(a string) int { return 1 }) }
func made() HandlerFunc { return func(a string) int { return 1 } }
""",
        """
a:run implements a:HandlerFunc [exact]
a:second implements a:HandlerFunc [exact]
a:lambda implements a:HandlerFunc [exact]
a:made implements a:HandlerFunc [exact]
""",
    ),
    "a.py": (
        """from typing import Protocol


class Handler(Protocol):
    def __call__(self, a: str) -> int: ...


class Counter:
    def __call__(self, a: str) -> int:
        return 1


def run(a):
    return 1


def use(n: int, h: Handler): ...
def count(c: Counter): ...


held: Handler = run


class Box:
    def put(self, h: Handler): ...

    def named(self):
        self.put(h=run)
        count(run)

    def unnamed(self):
        use(1, lambda a: 2)
""",
        """
a:run implements a:Handler [exact]
a:run implements a:Handler.__call__ [exact]
a:Box.unnamed implements a:Handler [exact]
""",
    ),
}


@pytest.mark.parametrize("path", PROJECTS)
def test_a_function_implements_the_type_for_which_it_is_given(path):
    text, wanted = PROJECTS[path]
    kinds = (" implements ", " extends ")
    lines = {line for line in edge_lines(load({path: text})) if any(kind in line for kind in kinds)}
    assert lines == {line for line in wanted.split("\n") if line}


def test_a_call_that_may_mean_several_functions_tells_no_type():
    text = "class A { void add(Cmp c) {} }\nclass B { void add(Cmp c) {} }\ninterface Cmp { void go(); }\n"
    text += "class U { void run() { x.y().add(() -> 1); } }\n"
    assert not [line for line in edge_lines(load({"A.java": text})) if " implements " in line]


def test_a_type_parameter_is_no_interface_of_its_name():
    text = """interface T { void go(); }
class U { <T> void free(T t) {} void run() { free(this::run); } }
class Y<T> { void put(T t) {} void run() { put(this::run); } }
"""
    assert not [line for line in edge_lines(load({"A.java": text})) if " implements " in line]


def test_of_overloads_the_one_with_the_wanted_number_of_parameters_is_given():
    text = """interface F { int go(String s); }
class U {
    static int by(String s) { return 1; }
    static int by(int a, int b) { return 1; }
    static int at(String s) { return 1; }
    static int at(int a) { return 1; }
    void use(F f) { use(U::by); }
    void at(F f) { use(U::at); }
}
"""
    implementing = {line for line in edge_lines(load({"A.java": text})) if " implements " in line}
    assert implementing == {"A:U.by implements A:F [exact]", "A:U.by implements A:F.go [exact]"}
