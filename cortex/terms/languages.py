"""The table of languages, one row for each, found by file name. A row with a grammar has a query
file in cortex/indexer/syntax/queries.

To add a language: one row here, that query file (its captures: parse.py beside it), and the
grammar's wheel in pyproject.toml; CONTRIBUTING.md has the samples and the generated files. To add a
configuration format: one row with `keys`.
"""

import difflib
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cortex.terms.code.headers import is_cpp

#: entries of the memo of paths: a keyword query may match in some thousand files
_MEMO = 1 << 13
#: class of a file: `data` files (configuration) have no definitions, their keys are shown
Kind = Literal["code", "document", "data"]


@dataclass(frozen=True, slots=True)
class Language:
    """`wheel` names a tree-sitter grammar, `entry` its function; files of a language without one
    are cut into windows of lines. `queries`: the query file, if not of the wheel's name.

    `wrappers` are node types that extend the span of a definition inside them (decorators,
    `export`). `clauses`: a function may be several definitions in a row, its signature among them.
    `keys`, for a format without a grammar, is a pattern for the first line of each top-level block;
    its first group that matched is the block's name.
    """

    name: str
    suffixes: tuple[str, ...]
    wheel: str = ""
    entry: str = "language"
    queries: str = ""
    comment: str = "//"
    wrappers: tuple[str, ...] = ()
    kind: Kind = "code"
    names: tuple[str, ...] = ()
    package_from_folder: bool = False
    clauses: bool = False
    keys: str = ""
    #: its definitions are nodes of the graph, also without a folder in cortex/graph/languages
    nodes: bool = True
    #: languages that can call one another, "" for a language on its own
    family: str = ""
    #: a method may be declared in its type and defined in another file (a `.h` counts as C)
    headers: bool = False
    #: ast-grep has the language, by the same name
    patterns: bool = False
    #: a file's name is no part of a qualified name; its folder, the package, is
    folder_is_package: bool = False
    #: names of constructors; whether a constructor has its type's name
    constructors: tuple[str, ...] = ()
    named_like_type: bool = False
    #: constructors run initialisers and a constructor of the base without an edge; a written call
    #: of that constructor is an edge
    runs_base: bool = False
    may_call_base: bool = False

    @property
    def grammar(self) -> tuple[str, str] | None:
        """(module, function) of the grammar; None without one."""
        return (f"tree_sitter_{self.wheel}", self.entry) if self.wheel else None

    @property
    def query(self) -> str:
        return self.queries or self.wheel


_TYPESCRIPT = Language(
    "typescript",
    (".ts", ".mts", ".cts"),
    "typescript",
    entry="language_typescript",
    wrappers=("export_statement", "ambient_declaration"),
    family="script",
    patterns=True,
    constructors=("constructor",),
    runs_base=True,
)

#: languages with a grammar
PARSED: tuple[Language, ...] = (
    Language(
        "python",
        (".py", ".pyi", ".pyw"),
        "python",
        comment="#",
        wrappers=("decorated_definition",),
        names=("SConstruct", "SConscript"),
        package_from_folder=True,
        patterns=True,
        constructors=("__init__", "__new__", "__post_init__"),
    ),
    Language("go", (".go",), "go", patterns=True, folder_is_package=True),
    _TYPESCRIPT,
    replace(_TYPESCRIPT, name="tsx", suffixes=(".tsx",), entry="language_tsx"),
    replace(
        _TYPESCRIPT,
        name="javascript",
        suffixes=(".js", ".mjs", ".cjs", ".jsx"),
        wheel="javascript",
        entry="language",
        wrappers=("export_statement",),
    ),
    Language("rust", (".rs",), "rust", patterns=True),
    Language("java", (".java",), "java", family="jvm", patterns=True, named_like_type=True, runs_base=True),
    Language("c", (".c", ".h"), "c", headers=True, patterns=True, named_like_type=True, runs_base=True),
    Language(
        "cpp",
        (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".h++", ".c++", ".ipp", ".inl", ".cu", ".cuh"),
        "cpp",
        wrappers=("template_declaration",),
        family="c",
        headers=True,
        patterns=True,
        named_like_type=True,
        runs_base=True,
    ),
    Language(
        "csharp",
        (".cs", ".csx"),
        "c_sharp",
        queries="csharp",
        patterns=True,
        named_like_type=True,
        runs_base=True,
    ),
    Language(
        "ruby",
        (".rb", ".rake", ".gemspec", ".ru", ".thor"),
        "ruby",
        comment="#",
        names=("Rakefile", "Gemfile", "Guardfile", "Podfile", "Vagrantfile"),
        patterns=True,
        constructors=("initialize",),
    ),
    Language(
        "php", (".php", ".phtml"), "php", entry="language_php", patterns=True, constructors=("__construct",)
    ),
    Language("kotlin", (".kt", ".kts"), "kotlin", family="jvm", patterns=True, runs_base=True),
    Language(
        "swift",
        (".swift",),
        "swift",
        patterns=True,
        constructors=("init",),
        runs_base=True,
        may_call_base=True,
    ),
    Language(
        "scala",
        (".scala", ".sc", ".sbt"),
        "scala",
        family="jvm",
        patterns=True,
        constructors=("this",),
        named_like_type=True,
        runs_base=True,
    ),
    Language("elixir", (".ex", ".exs"), "elixir", comment="#", clauses=True),
    Language("haskell", (".hs",), "haskell", comment="--", clauses=True),
    Language("lua", (".lua",), "lua", comment="--"),
    Language("zig", (".zig", ".zon"), "zig"),
    Language(
        "shell",
        (".sh", ".bash", ".zsh", ".ksh", ".bats"),
        "bash",
        comment="#",
        names=(".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
    ),
    Language("sql", (".sql",), "sql", comment="--"),
    Language("html", (".html", ".htm"), "html", nodes=False),
    Language("vue", (".vue",), "html", nodes=False),
    Language("svelte", (".svelte",), "html", nodes=False),
    Language("css", (".css",), "css", nodes=False),
    Language("json", (".json", ".jsonc", ".json5"), "json", kind="data"),
    Language("markdown", (".md", ".markdown", ".mdx", ".mkd", ".qmd", ".rmd"), "markdown", kind="document"),
)


def _keyed(
    name: str, suffixes: tuple[str, ...], keys: str, *, comment: str = "#", names: tuple[str, ...] = ()
) -> Language:
    return Language(name, suffixes, comment=comment, kind="data", names=names, keys=keys)


#: configuration formats: their top-level blocks are found by the first line of each
KEYED: tuple[Language, ...] = (
    _keyed("yaml", (".yaml", ".yml"), r"(?:([\w.$/-]+)|\"([^\"]+)\"|'([^']+)')\s*:(?:\s|$)"),
    _keyed("toml", (".toml",), r"\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#|$)|([\w.\"-]+)\s*="),
    _keyed(
        "ini",
        (".ini", ".cfg", ".conf", ".properties", ".editorconfig"),
        r"\[([^\]]+)\]|([\w.-]+)\s*[=:]",
        names=(".editorconfig", ".gitconfig", ".flake8", ".coveragerc"),
    ),
    _keyed("terraform", (".tf", ".tfvars", ".hcl"), r"([a-z_]+(?:\s+\"[^\"]*\"){0,2})\s*\{|(\w+)\s*="),
    _keyed(
        "dockerfile",
        (".dockerfile",),
        r"(?i:FROM\s+\S+\s+AS\s+(\S+)|FROM\s+(?:--\S+\s+)?(\S+)|(?:ARG|ENV)\s+(\w+)|(ENTRYPOINT|CMD)\b)",
        names=("Dockerfile", "Containerfile"),
    ),
    _keyed(
        "makefile",
        (".mk", ".mak"),
        r"(?!\.PHONY)(?:export\s+|override\s+)?([\w.%/$(){}-]+)(?:\s+[\w.%/-]+)*\s*(?:[:?+!]{0,2}=|:(?!=))|define\s+(\w+)",
        names=("Makefile", "GNUmakefile", "makefile"),
    ),
    _keyed("protobuf", (".proto",), r"(?:message|enum|service|extend)\s+([\w.]+)", comment="//"),
    _keyed(
        "graphql",
        (".graphql", ".gql", ".graphqls"),
        r"(?:extend\s+)?(?:type|interface|enum|input|union|scalar|directive|query|mutation|subscription|fragment)"
        r"\s+@?(\w+)|(schema)\b",
    ),
)

#: languages without grammar: their files are cut into windows of lines
WINDOWED: tuple[Language, ...] = (
    Language("restructuredtext", (".rst", ".rest"), kind="document"),
    Language("asciidoc", (".adoc", ".asciidoc"), kind="document"),
    Language("notebook", (".ipynb",), kind="document"),
    Language("pdf", (".pdf",), kind="document"),
    Language("word", (".docx",), kind="document"),
    Language("powerpoint", (".pptx",), kind="document"),
    Language("excel", (".xlsx",), kind="document"),
    Language(
        "text",
        (".txt",),
        kind="document",
        names=("README", "LICENSE", "NOTICE", "CHANGES", "AUTHORS", "COPYING"),
    ),
    Language("perl", (".pl", ".pm", ".t"), comment="#"),
    Language("r", (".r", ".R"), comment="#"),
    Language("julia", (".jl",), comment="#"),
    Language("dart", (".dart",), named_like_type=True),
    Language("erlang", (".erl", ".hrl"), comment="%"),
    Language("ocaml", (".ml", ".mli")),
    Language("clojure", (".clj", ".cljs", ".cljc", ".edn"), comment=";"),
    Language("nim", (".nim",), comment="#"),
    Language("objective-c", (".m", ".mm")),
    Language("fsharp", (".fs", ".fsx")),
    Language("groovy", (".groovy", ".gradle"), names=("Jenkinsfile",)),
    Language("powershell", (".ps1", ".psm1"), comment="#"),
    Language("scss", (".scss", ".sass", ".less")),
    Language("fish", (".fish",), comment="#"),
    Language("xml", (".xml", ".xsd", ".xsl", ".plist")),
    Language("nix", (".nix",), comment="#"),
    Language("cmake", (".cmake",), comment="#", names=("CMakeLists.txt",)),
    Language("starlark", (".bzl", ".bazel", ".star"), comment="#", names=("BUILD", "WORKSPACE")),
    Language("assembly", (".s", ".S", ".asm")),
    Language("vim", (".vim",)),
    Language("lisp", (".el", ".lisp", ".scm", ".rkt"), comment=";"),
)

#: any other text, with the constructors of languages without a row
OTHER = Language(
    "text",
    (),
    constructors=("__init__", "__new__", "constructor", "__construct", "initialize", "init", "new"),
    named_like_type=True,
)

LANGUAGES: tuple[Language, ...] = PARSED + KEYED + WINDOWED

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_LANGUAGE = {language.name: language for language in LANGUAGES}
_BY_NAME = {name: language for language in LANGUAGES for name in language.names}

#: language → its other names; each suffix without its dot is one, too
_ALIASES = {
    "go": "golang",
    "python": "python3, python2",
    "javascript": "node, nodejs, ecmascript, javascriptreact",
    "tsx": "typescriptreact",
    "cpp": "c++, cplusplus, cuda",
    "csharp": "c#, c-sharp, dotnet",
    "fsharp": "f#",
    "objective-c": "objc, objectivec, obj-c, m",
    "c": "h",
    "shell": "bash, zsh, posix shell, shellscript",
    "restructuredtext": "rst",
    "text": "plaintext",
    "terraform": "hcl",
    "makefile": "make",
    "dockerfile": "docker",
    "protobuf": "proto3",
    "notebook": "jupyter",
    "lisp": "elisp",
    "starlark": "bazel",
    "assembly": "asm",
    "scss": "sass, less",
    "vim": "viml, vimscript",
    "powershell": "pwsh",
}
#: languages that have rows of their own here, and that people count to another
_ALSO = {"typescript": ("tsx",)}
#: suffixes that name no language by themselves
_NO_NAMES = frozenset(("t", "s", "edn", "conf", "cfg", "properties", "in"))


_INTERPRETERS = {
    "python": ".py", "node": ".js", "deno": ".ts", "bash": ".sh", "sh": ".sh", "zsh": ".sh",
    "ruby": ".rb", "php": ".php", "lua": ".lua", "elixir": ".exs", "ksh": ".sh", "dash": ".sh",
    "perl": ".pl",
}  # fmt: skip
_BY_ALIAS: dict[str, str] = {
    **{
        suffix[1:].lower(): language.name
        for suffix, language in _BY_SUFFIX.items()
        if suffix[1:].lower() not in _NO_NAMES
    },
    **{alias: language for language, names in _ALIASES.items() for alias in names.split(", ")},
    **{language.name: language.name for language in LANGUAGES},
}
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*[\"']?([^\s\"'>]+)")
_SCRIPTS = {"javascript": "js", "typescript": "ts"}
_TRANSLATIONS = re.compile(r"\s*<(?:\?xml|!DOCTYPE\s+TS)\b")
_SHEBANG = re.compile(r"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([a-z]+)[\d.]*(?:\s|$)")


@functools.lru_cache(_MEMO)
def language_of(path: str) -> Language:
    """Return the row for a file's path, OTHER if none fits."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    dot = name.rfind(".")
    if dot < 0:
        return OTHER
    suffix = name[dot:]
    return (
        _BY_SUFFIX.get(suffix)
        or _BY_SUFFIX.get(suffix.lower())
        or _BY_NAME.get(name[: name.find(".")], OTHER)  # Dockerfile.dev
    )


def family_of(name: str) -> str:
    """Return the family of languages that can call one another; alone: the own name."""
    language = _BY_LANGUAGE.get(name)
    return (language.family if language is not None else "") or name


def canonical(name: str) -> str:
    """Return the index's name of a language that people call `name`: `golang` is go, `jsx`
    javascript.

    "" if there is none; case, a leading dot and quotes do not matter.
    """
    return _BY_ALIAS.get(name.strip().strip("\"'`").lower().removeprefix("."), "")


def expand_language(name: str) -> tuple[str, ...]:
    """Return the languages that `name` means: TypeScript has TSX. An unknown name means itself."""
    language = canonical(name) or name.strip().lower()
    return (language, *_ALSO.get(language, ()))


def nearest_language(name: str, among: Sequence[str] = ()) -> str:
    """Return the language, of `among` or of all, with the name nearest to `name`; "" for none."""
    names = list(among) or [language.name for language in LANGUAGES]
    calls = [call for call, language in _BY_ALIAS.items() if language in names]
    close = difflib.get_close_matches(name.strip().lower(), calls, n=1, cutoff=0.5)
    return canonical(close[0]) if close else ""


def embedded_language(tag: str) -> Language | None:
    """Return the language inside a `<script …>` or `<style …>` tag; None for data and others."""
    attributes = dict(_ATTRIBUTE.findall(tag.lower()))
    lang, kind = attributes.get("lang", ""), attributes.get("type", "")
    if tag.lower().startswith("<style"):
        return _BY_SUFFIX[".css"] if lang in ("", "css", "postcss") else None
    if lang:
        return _BY_SUFFIX.get(f".{_SCRIPTS.get(lang, lang)}")
    return _BY_SUFFIX[".js"] if kind in ("", "module") or kind.endswith(("javascript", "babel")) else None


def sniff(path: str, lines: Sequence[str]) -> Language:
    """As `language_of`, with a look at the lines if the name is not enough: scripts without a
    suffix, C++ in `.h`, Qt's translations in `.ts`.
    """
    language = language_of(path)
    if language is OTHER and lines:
        match = _SHEBANG.match(lines[0])
        suffix = _INTERPRETERS.get(match[1].rpartition("/")[2]) if match else None
        return _BY_SUFFIX[suffix] if suffix else OTHER
    if path.endswith(".ts") and lines and _TRANSLATIONS.match(lines[0]):
        return _BY_SUFFIX[".xml"]
    if path.endswith(".h") and is_cpp("\n".join(lines)):
        return _BY_SUFFIX[".hpp"]
    return language
