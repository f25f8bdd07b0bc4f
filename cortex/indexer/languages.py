"""Which language a file is in, by its name: one row for each. A row with a grammar has a query file beside this one.

To add a language: one row here, `queries/<name>.scm` (captures: parse.py), the grammar's wheel in pyproject.toml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["code", "document"]


@dataclass(frozen=True, slots=True)
class Language:
    """`grammar` is (module, function) of a tree-sitter wheel, or None: such files are cut into windows of lines.

    `wrappers` are node types whose span a definition takes over when it is their child (decorators, `export`).
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: tuple[str, str] | None = None
    query: str = ""
    comment: str = "//"
    wrappers: tuple[str, ...] = ()
    kind: Kind = "code"
    names: tuple[str, ...] = ()
    package_from_folder: bool = False


#: languages with a grammar
PARSED: tuple[Language, ...] = (
    Language(
        "python",
        (".py", ".pyi", ".pyw"),
        ("tree_sitter_python", "language"),
        "python",
        comment="#",
        wrappers=("decorated_definition",),
        names=("SConstruct", "SConscript"),
        package_from_folder=True,
    ),
    Language("go", (".go",), ("tree_sitter_go", "language"), "go"),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        ("tree_sitter_typescript", "language_typescript"),
        "typescript",
        wrappers=("export_statement", "ambient_declaration"),
    ),
    Language(
        "tsx",
        (".tsx",),
        ("tree_sitter_typescript", "language_tsx"),
        "typescript",
        wrappers=("export_statement", "ambient_declaration"),
    ),
    Language(
        "javascript",
        (".js", ".mjs", ".cjs", ".jsx"),
        ("tree_sitter_javascript", "language"),
        "javascript",
        wrappers=("export_statement",),
    ),
    Language("rust", (".rs",), ("tree_sitter_rust", "language"), "rust"),
    Language("java", (".java",), ("tree_sitter_java", "language"), "java"),
    Language("c", (".c", ".h"), ("tree_sitter_c", "language"), "c"),
    Language(
        "cpp",
        (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".h++", ".c++", ".ipp", ".inl", ".cu", ".cuh"),
        ("tree_sitter_cpp", "language"),
        "cpp",
        wrappers=("template_declaration",),
    ),
    Language(
        "markdown",
        (".md", ".markdown", ".mdx", ".mkd"),
        ("tree_sitter_markdown", "language"),
        "markdown",
        kind="document",
    ),
)

#: languages that are only named: their files are cut into windows of lines
NAMED: tuple[Language, ...] = (
    Language("restructuredtext", (".rst",), kind="document"),
    Language("asciidoc", (".adoc", ".asciidoc"), kind="document"),
    Language(
        "text",
        (".txt",),
        kind="document",
        names=("README", "LICENSE", "NOTICE", "CHANGES", "AUTHORS", "COPYING"),
    ),
    Language("csharp", (".cs",)),
    Language("kotlin", (".kt", ".kts")),
    Language("scala", (".scala", ".sc")),
    Language("swift", (".swift",)),
    Language("ruby", (".rb", ".rake", ".gemspec"), names=("Rakefile", "Gemfile")),
    Language("php", (".php",)),
    Language("lua", (".lua",)),
    Language("perl", (".pl", ".pm", ".t")),
    Language("r", (".r", ".R")),
    Language("julia", (".jl",)),
    Language("dart", (".dart",)),
    Language("elixir", (".ex", ".exs")),
    Language("erlang", (".erl", ".hrl")),
    Language("haskell", (".hs",)),
    Language("ocaml", (".ml", ".mli")),
    Language("clojure", (".clj", ".cljs", ".cljc", ".edn")),
    Language("zig", (".zig",)),
    Language("nim", (".nim",)),
    Language("objective-c", (".m", ".mm")),
    Language("fsharp", (".fs", ".fsx")),
    Language("groovy", (".groovy", ".gradle"), names=("Jenkinsfile",)),
    Language("shell", (".sh", ".bash", ".zsh", ".fish", ".bats")),
    Language("powershell", (".ps1", ".psm1")),
    Language("sql", (".sql",)),
    Language("protobuf", (".proto",)),
    Language("graphql", (".graphql", ".gql")),
    Language("html", (".html", ".htm")),
    Language("css", (".css", ".scss", ".sass", ".less")),
    Language("vue", (".vue",)),
    Language("svelte", (".svelte",)),
    Language("xml", (".xml", ".xsd", ".xsl", ".plist")),
    Language("json", (".json", ".jsonc", ".json5")),
    Language("yaml", (".yaml", ".yml")),
    Language("toml", (".toml",)),
    Language("ini", (".ini", ".cfg", ".conf", ".properties")),
    Language("terraform", (".tf", ".tfvars", ".hcl")),
    Language("nix", (".nix",)),
    Language("dockerfile", (".dockerfile",), names=("Dockerfile", "Containerfile")),
    Language("makefile", (".mk",), names=("Makefile", "GNUmakefile", "makefile")),
    Language("cmake", (".cmake",), names=("CMakeLists.txt",)),
    Language("starlark", (".bzl", ".bazel", ".star"), names=("BUILD", "WORKSPACE")),
    Language("assembly", (".s", ".S", ".asm")),
    Language("vim", (".vim",)),
    Language("lisp", (".el", ".lisp", ".scm", ".rkt")),
)

#: any other text
OTHER = Language("text", ())

LANGUAGES: tuple[Language, ...] = PARSED + NAMED

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {name: language for language in LANGUAGES for name in language.names}


_INTERPRETERS = {
    "python": ".py",
    "node": ".js",
    "deno": ".ts",
    "bash": ".sh",
    "sh": ".sh",
    "zsh": ".sh",
    "ruby": ".rb",
    "perl": ".pl",
}
_SHEBANG = re.compile(r"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([a-z]+)[\d.]*(?:\s|$)")
_CPP_LINE = re.compile(r"\s*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)")


def language_of(path: str) -> Language:
    """The row for a file's path, OTHER when none fits."""
    name = path.rpartition("/")[2]
    if name in _BY_NAME:
        return _BY_NAME[name]
    dot = name.rfind(".")
    if dot < 0:
        return OTHER
    suffix = name[dot:]
    return _BY_SUFFIX.get(suffix) or _BY_SUFFIX.get(suffix.lower(), OTHER)


def sniff(path: str, lines: Sequence[str]) -> Language:
    """As `language_of`, with a look inside where the name is not enough: scripts without a suffix, C++ in `.h`."""
    language = language_of(path)
    if language is OTHER and lines:
        match = _SHEBANG.match(lines[0])
        suffix = _INTERPRETERS.get(match[1].rpartition("/")[2]) if match else None
        return _BY_SUFFIX[suffix] if suffix else OTHER
    if path.endswith(".h") and any(map(_CPP_LINE.match, lines)):
        return _BY_SUFFIX[".hpp"]
    return language
