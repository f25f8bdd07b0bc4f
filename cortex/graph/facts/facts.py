"""What one file says: definitions, references, bindings and imports, before anything is resolved.
No behaviour.

Expressions are kept as chains: `self.store.get()[].name` — names joined by dots, `()` for a call,
`[]` for an element, `[*]` for what C++'s `*i` is; `(_2)` is a call with two arguments, where
functions of one name may differ by that, `(1)` the second of its results, `()<Disk>` one that is
told a class first (PHP); `?` is an expression that says nothing, `#` a literal. A chain after `:`
is a type as it is declared (`types.py`).
"""

from __future__ import annotations

import msgspec

from cortex.terms.kinds import TYPE_KINDS

#: raised when the facts of an unchanged file would differ: they are then extracted anew
FACTS_VERSION = 53


#: what a file exports by default when that is an object literal: its members are then looked up in
#: the file itself
OBJECT = "{}"

#: flags of what has members without being a type: a function that makes instances, a script's
#: constant or function that methods were given to
CONSTRUCTOR, HOLDER = "constructor", "holder"
#: flag of a function that only others know by its name: `exports.x = function () {}`
EXPORTED = "exported"
#: flag of an object that may stand beside a class of its name and share its members' name (Scala)
COMPANION = "object"
#: flag of what C++ has beside the template of its name for some types: `struct Disk<int> {…}`
SPECIALIZED = "specialized"
#: flag of what a macro of C++ defines that nobody calls by its name: `TEST(Store, Saves) {…}`
TESTED = "test"
#: relation of another name for a type to that type
ALIAS = "alias"
#: name and flag of what is called where an instance of a type is, by TypeScript's call signatures
CALLED = "call"
#: flag of a definition of Python in a branch of a condition: another may have one of its name
BRANCH = "branch"
#: flag of a function of PHP that makes one of the class that it is told: `class-string<T>`
MAKER = "class-string"
#: begins the flag that holds the chain of the outermost decorator
DECORATED = "@"
#: begins the flag of Kotlin's extension of a type parameter, which holds what that has to be, and
#: of one of a type that holds others, `List<Disk>`, whose own name it holds
BOUND, OUTER = ":", ">"
#: flag of what Kotlin expects of each system, and of what one of them has
PLATFORM = "platform"
#: begins the flag that holds the name of a type parameter of Kotlin's, where that is a longer one
FREE = "^"
#: begins the flag that holds the labels of a function's parameters (Swift: labels.py)
LABELS = "("
#: flags of generators whose one item others are given
YIELDING = frozenset({"fixture", "contextmanager", "asynccontextmanager"})
#: ends a parameter's type where it has a default; begins that of one that stands for many
DEFAULT, MANY = " =", "[]"
#: ends the type of a parameter of Scala that a call's first arguments are not for: `(a: A)(b: B)`
LATER = " )("
#: flags of Scala's classes that others take apart and copy, and of what is applied unasked
CASE, IMPLICIT = "case", "implicit"
#: begins the flag that holds the type of what Scala's `extension (x: Disk) def …` is called on
RECEIVER = "."
#: flag of C#'s method that is called through its interface alone: `void IDisposable.Dispose()`
EXPLICIT = "explicit"
#: the name of a package's own object in Scala, whose members are the package's
PACKAGE = "package"
#: begins the flag that holds the names of a definition's type parameters (C#, Java, Kotlin, Scala)
GENERIC = "<"
#: of a reference's type arguments: it makes one of a type, or takes one apart
TYPE_ONLY = -1
#: the member of an object that holds what it takes in whole: `{ ...other }`
SPREAD = "*"
#: the member of a script's type that stands for every name: `{ [name: string]: Disk }`
ANY_NAME = "[]"


class Base(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A supertype as written. `relation` is extends, implements, embeds, or ALIAS; `arguments` are
    its type arguments, `<Disk>`, where resolution asks for them (generics.py).
    """

    relation: str
    chain: str
    line: int
    column: int
    arguments: str = ""


class Parameter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`type` is the declared type's text, "" for none."""

    name: str
    type: str = ""


class Definition(msgspec.Struct, frozen=True, array_like=True):
    """`parent` is the index of the enclosing definition, -1 for the file; `scope` its qualified
    name; a method whose type is only named (Go, Rust, C++) has `parent` -1 and the type's name as
    `scope`. `returns` is a declared type after `:`, or the chain of what is returned, "" for
    unknown. `flags` are decorators and modifiers. `since` and `until` are the bytes between which a
    script's name holds that stands in a function without a name, 0 for no such bounds.
    """

    name: str
    kind: str
    scope: str
    parent: int
    start_line: int
    end_line: int
    line: int
    column: int
    begin: int
    end: int
    bases: tuple[Base, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    flags: tuple[str, ...] = ()
    since: int = 0
    until: int = 0

    @property
    def qualified(self) -> str:
        return f"{self.scope}.{self.name}" if self.scope else self.name

    @property
    def is_constructor(self) -> bool:
        """Whether it has its type's name: no member of a type that inherits from that."""
        return self.kind == "method" and self.name == self.scope.rpartition(".")[2]

    @property
    def has_members(self) -> bool:
        return self.kind in TYPE_KINDS or CONSTRUCTOR in self.flags or HOLDER in self.flags

    @property
    def makes_instances(self) -> bool:
        return self.kind in TYPE_KINDS or CONSTRUCTOR in self.flags


class Reference(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`kind` is call, type or value: a name that may be a function, and is not called. `passed` is
    what each argument is, where functions may differ by that alone (arguments.py); `scope` the
    index of the enclosing definition, -1 for the file; `at` a byte offset; `types` how many type
    arguments are written (C#), MADE where only a type can be meant (Scala's `new`, patterns).
    """

    kind: str
    chain: str
    scope: int
    line: int
    column: int
    at: int
    arguments: int = -1
    passed: tuple[str, ...] = ()
    types: int = 0


class Binding(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`name` (or `self.name`) gets `value` (a chain, or a declared type after `:`) at byte `at`;
    holds until `until`.
    """

    name: str
    value: str
    scope: int
    at: int
    until: int


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`name` stands for `member` of `module` (no member: the module itself; `*`: every member, and
    `name` is "").

    `module` is as written (`.pkg`, `./file`, `a/b`, `crate::a`). `exported`: others may import the
    name from here. `inside`: the module within the file in which it holds (Rust), "" for all of it;
    `rare`: only where a build is told so, `#[cfg(own_switch)]`.
    """

    name: str
    module: str
    member: str
    scope: int
    line: int
    at: int
    exported: bool = False
    inside: str = ""
    rare: bool = False


class Extension(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A supertype that is given to a type outside of its definition: Rust's `impl Trait for Type`,
    Swift's extension.
    """

    type: str
    base: Base


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """One file. `exports` maps an exported name to the local one where they differ; `builds` says
    for which builds it is (Go), "" for any.
    """

    path: str
    language: str
    sha256: str
    package: str = ""
    lines: int = 0
    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: dict[str, str] = {}
    extensions: tuple[Extension, ...] = ()
    builds: str = ""
