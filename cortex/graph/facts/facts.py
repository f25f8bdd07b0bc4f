"""The facts of one file before resolution: definitions, references, bindings, imports. Data only.

Expressions are stored as chains: `self.store.get()[].name`. Names are joined by dots, `()` is a
call, `[]` an element, `[*]` the target of C++'s `*i`. `(_2)` is a call with two arguments, in
languages with overloads; `(1)` is the second result of a call; `()<Disk>` is a call whose first
argument is a class (PHP). `?` is an expression without meaning for the graph, `#` a literal. A
chain after `:` is a type as declared (`types.py`).
"""

import re

import msgspec

from cortex.terms.kinds import TYPE_KINDS

#: raised when the facts of an unchanged file would differ: all files are then extracted again
FACTS_VERSION = 82


#: a file's default export that is an object literal: its members are then looked up in the file
OBJECT = "{}"

#: flags of definitions that have members without being a type: a function that makes instances; a
#: constant or function of a script that gets methods by assignment
CONSTRUCTOR, HOLDER = "constructor", "holder"
#: flag of a signature without a body; the implementation has the same name: Python's `@overload`,
#: TypeScript's `save(name: string): void`
OVERLOAD = "overload"
#: flag of a function that only other files call by its name: `exports.x = function () {}`
EXPORTED = "exported"
#: flag of an object that can accompany a class of the same name (Scala)
COMPANION = "object"
#: flag of a C++ template specialization: `struct Disk<int> {…}`
SPECIALIZED = "specialized"
#: flag of a definition that no code calls by name: a test of a C++ macro, `TEST(Store, Saves) {…}`,
#: and a function that Kotlin hides, `@Deprecated(level = HIDDEN)`
TESTED = "test"
#: flag of a test of Kotlin, which a framework runs: no call on an unknown receiver means it
RUN = "run"
#: arguments of a base that only types which include a Ruby module get: `base.extend(Made)`
TO_HEIRS = "heirs"
#: those of one of which these types get class methods alone, and not by `base.include(Made)`
EXTENDED_HEIRS = "extended heirs"
#: arguments of a module with which a Ruby type extends itself: its methods are class methods
EXTENDED = "extend"
#: begins the name of a method that a Ruby macro computes: `#{name}=`
BY_MACRO = "#{"
#: relation of another name for a type to that type
ALIAS = "alias"
#: relation of a trait of Scala to a type that each type with the trait has: `self: Shop =>`
REQUIRED = "requires"
#: relation of a type of Rust to a trait that a macro implements: `#[derive(Parser)]`
DERIVED = "derives"
#: in the description of an unnamed function: before the byte at which its body ends, and before the
#: chain of what it gives
GIVES = ">"
#: begins the flag of a method with another name that its type gives it: Ruby's `alias store save`
ALSO = "also "
#: kind of the reference of an object literal or a function to the type that is wanted in its place
LITERAL_ARGUMENT = "given"
#: flag of a method without a body in an interface (Java, Kotlin): a function may stand for it
ABSTRACT = "abstract"
#: flag of a type that only its own code makes (Kotlin)
PRIVATE = "private"
#: name and flag of TypeScript's call signatures: the function that a call of an instance means
CALLED = "call"
#: flag of a definition in a branch of a condition (Python, Ruby): another may define the same name
BRANCH = "branch"
#: begin the flags with a type parameter that is constant, or is not; the first also a binding after
#: that of a local constant, and alone one of a function that copies what is around it (C++)
CONSTANT, VARYING = "const ", "mutable "
#: flag of a C++ method that a constant object has, `void save() const`
CONSTANT_OBJECT = f"{CONSTANT}this"
#: begins the flag of a definition in one of several branches of a C++ condition: the condition and
#: the number of the branch
EXCLUDING = "#if "
#: flag of a PHP function that makes an instance of the class in its argument: `class-string<T>`
MAKER = "class-string"
#: begins the flag that holds the chain of the outermost decorator
DECORATED = "@"
#: begin flags of Kotlin extensions: the bound of a type parameter as receiver; the name of a
#: generic receiver type, `List` of `List<Disk>`
BOUND, OUTER = ":", ">"
#: flag of Kotlin's `expect` and `actual` definitions
PLATFORM = "platform"
#: begins the flag that holds the name of a long type parameter (Kotlin)
FREE = "^"
#: begins the flag that holds the labels of a function's parameters (Swift: labels.py)
LABELS = "("
#: flags of generators that a decorator turns into functions that return the yielded value
YIELDING = frozenset({"fixture", "contextmanager", "asynccontextmanager"})
#: ends the type of a parameter with a default; begins the type of a variadic one
DEFAULT, MANY = " =", "[]"
#: ends the type of a parameter in a later parameter list (Scala): `b` of `(a: A)(b: B)`
LATER = " )("
#: flags of Scala's case classes and implicit definitions
CASE, IMPLICIT = "case", "implicit"
#: begins the flag that holds the receiver's type of Scala's `extension (x: Disk) def …`
RECEIVER = "."
#: flag of a C# method that is only callable through its interface: `void IDisposable.Dispose()`
EXPLICIT = "explicit"
#: name of Scala's package object: its members belong to the package
PACKAGE = "package"
#: begins the flag that holds the names of a definition's type parameters (C#, Java, Kotlin, Scala)
GENERIC = "<"
#: `types` of a reference that can only mean a type: it makes or matches an instance
TYPE_ONLY = -1
#: `types` of a call by an operator: it means a member of a known type, or nothing in the project
OPERATOR = -2
#: flag of Scala's methods without a parameter list: their name alone is a call
UNCALLED = "uncalled"
#: flag of an accessor, or of such a method, that calls something
RUNNING = "runs"
#: kind of the reference of a property that is read or assigned, with `types` as a sum of these
PROPERTY, READ, WRITTEN = "property", 1, 2
#: begins the name of a getter, which hides no field: the field has the property's type; ends the
#: name of a setter
ACCESSOR = "="
#: the mark of a getter in a qualified name
_GETTER = re.compile(r"(?:^|(?<=\.))=(?=[A-Za-z_])")
#: the name in a Ruby method that stands for the first value it passes to its block
YIELDED = "(yield)"
#: the name of a Ruby file that stands for a module it includes outside of all types
INCLUDED = "(include)"
#: the member of an object literal that holds a spread: `{ ...other }`
SPREAD = "*"
#: begins the second binding of C++'s pointers, arrays and names without a declared type
POINTER = "*"
#: begins the binding for a name space that a C++ macro opens: files that use the macro have their
#: names in the scope around it
SPACE = "namespace "
#: begins the binding of a C++ name space to a name that it takes from another, or to all, `disk.*`
USING = "using "
#: the member of a script's type that stands for any name: `{ [name: string]: Disk }`
ANY_NAME = "[]"
#: begins a link for a whole module, such as `require("./x")`: its path follows, encoded by HIDDEN
MODULE = "@"
#: characters that would end a link, and their replacements in a module's path
BETWEEN = "\x01"
HIDDEN = str.maketrans(".[]()", f"{BETWEEN}\x02\x03\x04\x05")
UNHIDDEN = {value: key for key, value in HIDDEN.items()}


class Base(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A supertype as written.

    `relation` is extends, implements, embeds, DERIVED, REQUIRED or ALIAS. `arguments` are its type
    arguments, `<Disk>`, in languages where resolution uses them (generics.py).
    """

    relation: str
    chain: str
    line: int
    column: int
    arguments: str = ""


class Parameter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`type` is the declared type's text, "" without one."""

    name: str
    type: str = ""


class Definition(msgspec.Struct, frozen=True, array_like=True):
    """A definition: a type, function, method, constant or module with a name.

    `parent` is the index of the enclosing definition, -1 for the file; `scope` is its qualified
    name. A method that only names its type (Go, Rust, C++) has `parent` -1 and the type's name as
    `scope`. `returns` is a declared type after `:`, or the chain of the returned value, "" if
    unknown. `flags` are decorators and modifiers. `since` and `until` are byte offsets: the range
    in which the name is valid, for a script's definition in an unnamed function; 0 and 0 without
    such bounds.
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
    def shown(self) -> str:
        """The qualified name as the graph has it: a getter has that of its property."""
        return _GETTER.sub("", self.qualified) if ACCESSOR in self.qualified else self.qualified

    @property
    def is_accessor(self) -> bool:
        """True for a getter or setter beside the field that has the property's type."""
        return ACCESSOR in self.flags

    @property
    def is_constructor(self) -> bool:
        """True for a constructor that has its type's name: subtypes do not inherit it."""
        return self.kind == "method" and self.name == self.scope.rpartition(".")[2]

    @property
    def has_members(self) -> bool:
        return self.kind in TYPE_KINDS or CONSTRUCTOR in self.flags or HOLDER in self.flags

    @property
    def makes_instances(self) -> bool:
        return self.kind in TYPE_KINDS or CONSTRUCTOR in self.flags


class PassedFunction(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function that is given as a value: `chain` of its name, "" for an unnamed one.

    `parameter` is the number or the name of the parameter that gets it, "" outside of calls.
    """

    parameter: str
    chain: str
    line: int
    column: int


class Reference(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A use of a name.

    `kind` is call, type or value; a value is a name that may be a function and is not called. Marks
    of pytest name fixtures (declared/pytest_marks.py), with 1 as `arguments` of a decorator.
    `scope` is the index of the enclosing definition, -1 for the file; `at` a byte offset.
    `arguments` is the number of arguments, -1 if unknown. `passed` describes each argument, in
    languages with overloads (arguments.py). `types` is the number of written type arguments (C#,
    C++), TYPE_ONLY or OPERATOR. `functions` are those among the arguments.
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
    functions: tuple[PassedFunction, ...] = ()


class Binding(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name that gets a value from byte `at` to byte `until` (0: to the end of the scope).

    `name` is a name or `self.x`; `value` is a chain, or a declared type after `:`.
    """

    name: str
    value: str
    scope: int
    at: int
    until: int


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An import: `name` stands for `member` of `module`.

    `member` is "" for the module itself, and `*` for every member; `name` is then "". `module` is
    as written (`.pkg`, `./file`, `a/b`, `crate::a`). `exported`: other files may import the name
    from here. `inside`: the module within the file to which the import belongs (Rust), "" for the
    file. `rare`: only in builds with a special switch, `#[cfg(own_switch)]`.
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
    """A supertype that code outside of the type's definition adds: Rust's `impl Trait for Type`,
    Swift's extension. `begin` and `end` are byte offsets, 0 for a script's call that adds it:
    that holds no methods.
    """

    type: str
    base: Base
    begin: int = 0
    end: int = 0


class Fragment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A router, route or mount that a file declares in a web framework, or a client or request
    (frameworks/reading). `injects`: `target` is called for the alias or handler `router`. `binds`
    and `wants` are services of a container (reading/read_services.py).

    `router` and `target` are routers' keys or chains; of a mount the outer and the mounted one, of
    a route `target` is the handler's chain, or its definition: `#3`. `template` is the path or
    prefix as the file has it. `span` is the text of the target: lines and columns of its begin and
    end. `flags`: `app` serves without a mount, `computed` has no literal path, `methods` no literal
    methods, `replaces` a router's own prefix, `same` is another name of one router.
    """

    kind: str
    router: str
    template: str
    methods: tuple[str, ...]
    target: str
    scope: int
    line: int
    column: int
    end_line: int
    span: tuple[int, int, int, int]
    flags: tuple[str, ...] = ()


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A member of a type that is a node of the graph and to resolution a binding of the type: a
    property, an alias of a method.
    """

    name: str
    kind: str
    scope: str
    start_line: int
    end_line: int


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """The facts of one file.

    `exports` maps an exported name to the local name where they differ. `builds` is the condition
    of the builds that contain the file (Go), "" for all. `texts` maps constants that may be parts
    of paths to their text (frameworks/reading/constants.py).
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
    fragments: tuple[Fragment, ...] = ()
    members: tuple[Member, ...] = ()
    texts: dict[str, str] = {}


def module_link(module: str) -> str:
    """Return a whole module as one link of a chain."""
    return MODULE + module.translate(HIDDEN)


def module_of(link: str) -> str:
    """Return the module of a link; "" for other links."""
    return link[1:].translate(UNHIDDEN) if link.startswith(MODULE) else ""
