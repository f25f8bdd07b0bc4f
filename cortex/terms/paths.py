"""Classes of files by their path alone: test, example, vendored, generated, build file, record,
page; and words by which a question asks for such files. Pure.
"""

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cortex.terms import tokens
from cortex.terms.languages import language_of

#: folders of tests, in lower case
TEST_FOLDERS = frozenset("test tests testing testdata __tests__ __mocks__ __fixtures__ e2e".split())
#: folders of tests or of shipped code: below a folder of sources they hold shipped code, as
#: `src/mock/server.go` and `internal/spec/openapi.go` do
_DOUBTFUL_FOLDERS = frozenset("spec specs mock mocks fixture fixtures".split())
#: words of specifications, and in some languages of tests
_SPEC_WORDS = frozenset(("spec", "specs"))
_SOURCE_FOLDERS = frozenset("src source sources lib libs internal pkg app api cmd core server".split())
#: words that end the stem of a test's file after another word: a.test.ts, a_test.go, ATests.cs
_TEST_ENDS = frozenset("test tests mock mocks unittest unittests".split())
#: stems of tests without another word
_TEST_STEMS = frozenset("tests mocks unittests conftest".split())
#: languages in which `spec` ends the stem of a test's file; elsewhere it is a specification
#: (SecretKeySpec.java, pod_spec.go)
_SPEC_LANGUAGES = frozenset(
    "javascript typescript tsx ruby scala kotlin groovy lua swift haskell php elixir crystal csharp fsharp vue".split()
)
_SCRIPTS = frozenset(("javascript", "typescript", "tsx"))
#: languages in which a file `test` is a test in any folder; in others it may be a command or a kit
#: (commands/test.ts, cmd/test.go, werkzeug/test.py)
_TEST_MODULE_LANGUAGES = frozenset("rust zig c cpp bash lua".split())
#: a leading `test` that names a test: test_a.py, test-a.c, TestA.java; not test-runner.ts and
#: TestServer.cs
_LEADING_TEST = re.compile(
    r"tests?_|tests?-(?!.*\.[cm]?[jt]sx?$)|Test[A-Z].*\.(?:java|kt|scala|groovy)$", re.ASCII
)
#: integration tests of the JVM's build tools (CacheIT.java); in other languages `IT` means nothing
_INTEGRATION = re.compile(r"[a-z]IT\.(?:java|kt|scala|groovy)$")
#: the shipped and the tested sources of the JVM's build tools: src/main/java, src/commonTest/kotlin
_SOURCE_SET = re.compile(
    r"(?:^|/)src/(?:(main)/|(?:test[A-Z]\w*|\w+Test)/(?:java|kotlin|scala|groovy|resources)/)"
)
#: folders and file names of code that only shows or accompanies the project's code
EXAMPLE_WORDS = frozenset(
    "example examples doc docs documentation sample samples bench benches benchmark benchmarks demo demos compat legacy "
    "locale locales".split()
)
#: top folders of scripts and CI: they work on the project, and it does not ship them
_SCRIPT_FOLDERS = frozenset("scripts script hack contrib ci .ci .github .circleci .gitlab".split())
#: folders that hold copies of other projects, in lower case
VENDORED_FOLDERS = frozenset(
    "vendor vendors vendored _vendor _vendored third_party third-party thirdparty 3rdparty godeps "
    "site-packages node_modules bower_components".split()
)
#: folders of built or fetched files; their chunks carry no mark, for a project may use such names
#: for its own code
BUILT_FOLDERS = frozenset("dist build out deps generated".split())
#: folders of builds
_COPY_FOLDERS = frozenset(("dist", "build", "out"))
#: folders below which a project has code of its own in folders with some of these names:
#: src/build/plan.ts, test/build/plan.test.ts
_CODE_FOLDERS = frozenset("src source sources lib internal pkg test tests".split())
_CODE_PARTS = frozenset(("build", "out"))
#: names of bundles, minified files and declarations of types
_BUNDLE = re.compile(r"([.-](?:min|bundle|umd|iife))\.[cm]?js$|(\.d\.[cm]?ts)$")
#: names of generated files
_GENERATED = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.\w+)?\.(?:go|h|cc|swift|dart)|\.(?:g|gr|freezed)\.dart|\.(?:g|designer|generated)\.cs"
    r"|\.gen\.\w+|[._-]generated\.\w+|\.generated\.\w+)$|^zz_generated\.",
    re.IGNORECASE,
)
#: names of change logs, licences, lock files and forms: no question about code means them
_RECORD = re.compile(
    r"^(?:change(?:s|log)|history|news|release[-_ ]?notes|licen[cs]es?|notice|copying|authors|contributors)(?:[.-]|$)"
    r"|(?:^|[._-])lock(?:\.(?:json|ya?ml|hcl|toml))?$|^(?:npm-shrinkwrap\.json|go\.sum|gemfile\.lock)$"
    r"|^(?:(?:issue|pull_request|merge_request)_template)",
    re.IGNORECASE,
)
#: names of files that configure building, checking, packing and running a project, in lower case
_BUILD = re.compile(
    r"^(?:(?:gnu)?makefile|cmakelists\.txt|(?:docker|container|jenkins|rake|gem|proc|pod|just|vagrant|brew)file(?:\..*)?"
    r"|compose\.ya?ml|docker-compose.*|build|workspace|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|build\.(?:zig|rs|sbt|xml)|pom\.xml"
    r"|mix\.exs|package\.(?:swift|json|yaml)|composer\.json|go\.mod|(?:pyproject|cargo|pipfile)(?:\.toml)?"
    r"|requirements.*\.(?:txt|in)|(?:rollup|webpack|vite|gulpfile|gruntfile|tsconfig|babel)\b.*"
    r"|.*\.(?:gradle|gradle\.kts|mk|cmake|gemspec|cabal|csproj|props|service)"
    r"|.*\.(?:conf|ini|cfg|toml|ya?ml|properties|env)|\.\w[\w.-]*)$"
)
#: words of a question about them, and words that may also speak of code
_BUILD_WORDS = frozenset(
    "ci continuous dependency dependencies extras pinned package packages packaging wheel lint linter linters linting "
    "formatter coverage workflow workflows docker dockerfile container image makefile matrix systemd ruff mypy pytest "
    "eslint prettier clippy rubocop configuration".split()
)
_BUILD_OR_CODE_WORDS = frozenset("build builds building config configured settings options git".split())
_TEMPLATE_FOLDERS = frozenset(
    "issue_template pull_request_template merge_request_templates issue_templates".split()
)
#: words of a question about records
_RECORD_WORDS = frozenset(
    "change changed changes changelog history release releases released news version versions upgrade upgrading "
    "deprecated license licence licenses copyright notice author authors contributors lock locked pinned dependency "
    "dependencies template templates issue".split()
)
#: words of a question about documents, and words that may mean them
_DOCUMENT_WORDS = frozenset("documentation documents docs readme guide guides tutorial tutorials".split())
_DOCUMENTS = (
    r"(?:documentation|docs?|documents?|guides?|tutorials?|manual|readme)(?: (?:page|section|chapter)s?)?"
)
#: a question about using the project, which its documents and settings answer
_HOW_TO = re.compile(
    r"\bhow (?:to|(?:do|can|should|would) (?:i|we|you|one|users?)) (?:\w+ )?"
    r"(?:configure|enable|disable|install|set up|deploy|upgrade|customi[sz]e)\b"
    r"|\bdefault (?:value )?(?:of|for) (?:the )?(?:setting|option|variable|\S*[._]\S+)",
    re.IGNORECASE,
)
#: a question for documents and not for code about them, as a generator of documents has it
_DOCUMENTS_ALONE = re.compile(
    rf"^\W*(?:(?:find|show|read|see|which|what|the|any|me|user|developer|where (?:is|are)) )*{_DOCUMENTS}"
    r" (?:on|about|for|of|to|that|which|describ\w+|explain\w*|covers?|says?)\b(?!.*(?:ed|built|written)\W*$)"
    # each line is looked at once: from each "is" on, long questions took quadratic time
    r"|(?:\A|(?<=\n))(?=.*\bdocumented\W*$).*\b(?:where|how|is|are)\b"
    rf"|\bdo(?:es)? the {_DOCUMENTS} (?:say|describe|explain|tell)",
    re.IGNORECASE,
)
#: names of templates, words of a question about them, and words that may also speak of code
_TEMPLATE = re.compile(
    r"\.(?:erb|haml|slim|blade\.php|phtml|cshtml|razor|vue|svelte|astro|html?|twig|jinja2?|j2|ejs|hbs|handlebars|heex|eex"
    r"|leex|liquid|mustache|pug|jade|ftl|jsp)$",
    re.IGNORECASE,
)
_TEMPLATE_WORDS = frozenset(
    "template templates partial partials layout layouts blade erb haml razor twig".split()
)
_TEMPLATE_OR_CODE_WORDS = frozenset("view views page html".split())
#: how much such a word asks for templates
_MAYBE_TEMPLATES = 0.4
_PAGE_WORDS = frozenset(
    "doc manual page pages introduction overview install installation installing contributing faq".split()
)
#: a folder or the last part of a stem that names the language of a page
_LANGUAGE = re.compile(
    r"(?:ar|bn|cs|da|de|el|en|es|fa|fi|fr|he|hi|hu|id|it|ja|ko|nl|no|pl|pt|ro|ru|sv|th|tr|uk|vi|zh)"
    r"(?:[-_](?:[a-z]{2}|hans|hant))?",
    re.IGNORECASE,
)
_PAGES = frozenset("md mdx rst txt adoc html".split())
#: words of a question about tests or examples; `mock`, `spec` and `sample` are mostly a subject of
#: the code
ASKING_WORDS = frozenset(
    "test tests testing tested unittest unittests fixture fixtures benchmark benchmarks bench "
    "example examples samples demo demos".split()
)
#: a word of prose, with the quotes and punctuation around it: no part of an identifier, a path, a
#: call or code in backquotes
_PROSE_WORD = re.compile(
    r"""(?<!\S)["'“(\[*_]*((?:[A-Z]?[a-z]+-)*[A-Z]?[a-z]+)(?:'s)?["'”)\]*_]*[.,;:?!]*["'”)]*(?!\S)"""
)
#: words of a longer question, mostly a pasted one, that say for what it asks: those of its title
_TITLE_WORDS_MAX = 40
#: file stems without meaning: the folder's name counts instead
EMPTY_STEMS = frozenset(("mod", "index", "init", "__init__", "lib", "main"))
#: (path before it, number) of the first folder named like a version
_VERSION_FOLDER = re.compile(r"^((?:[^/]+/)*?)v(\d{1,4})/", re.IGNORECASE)
_VERSION = re.compile(r"\bv\d", re.IGNORECASE)
#: classes of a file, as bits
TEST, EXAMPLE, FOREIGN = 1, 2, 4
#: entries of the memo of paths; a query has a few hundred candidates
_MEMO = 20_000


@functools.lru_cache(_MEMO)
def is_test(path: str) -> bool:
    """Whether the path's folders or its file's name say that it is a test, a mock or a fixture."""
    *folders, name = path.split("/")
    language = language_of(name)
    if source_set := _SOURCE_SET.search(path):
        return source_set[1] is None or (language.name in _SCRIPTS and _is_test_name(path, language.name))
    lower = [folder.lower() for folder in folders]
    if not TEST_FOLDERS.isdisjoint(lower):
        return True
    if language.kind != "code":  # test.yml runs tests, testing.md and specs/ describe them
        return not (_DOUBTFUL_FOLDERS - _SPEC_WORDS).isdisjoint(lower)
    doubtful = next((at for at, folder in enumerate(lower) if folder in _DOUBTFUL_FOLDERS), -1)
    if doubtful >= 0 and _SOURCE_FOLDERS.isdisjoint(lower[:doubtful]):
        return True
    return _is_test_name(path, language.name)


def has_test_name(path: str) -> bool:
    """Whether the name of a file of code is that of a test: no other file uses what it defines."""
    return _is_test_name(path, language_of(path).name)


def _is_test_name(path: str, language: str) -> bool:
    """Whether the name of a file of code is that of a test."""
    *folders, name = path.split("/")
    words = _stem_parts(name) or [""]
    if words == ["test"]:
        return len(folders) < 2 or language in _TEST_MODULE_LANGUAGES
    if len(words) == 1:
        return words[0] in _TEST_STEMS
    return (
        words[-1] in _TEST_ENDS
        or (words[-1] in _SPEC_WORDS and language in _SPEC_LANGUAGES)
        or _LEADING_TEST.match(name) is not None
        or _INTEGRATION.search(name) is not None
    )


@functools.lru_cache(_MEMO)
def is_example(path: str) -> bool:
    *folders, name = path.lower().split("/")
    return any(word in EXAMPLE_WORDS for word in (*folders, name.partition(".")[0]))


def vendored_folder(path: str) -> str:
    """Return the folder of a path with copies of other projects, as written; "" for none."""
    folders = path.split("/")[:-1]
    return next((folder for folder in folders if folder.lower() in VENDORED_FOLDERS), "")


def has_generated_name(path: str) -> bool:
    """Whether the file's name has the form of a generator's output."""
    return _GENERATED.search(path.rpartition("/")[2]) is not None


@functools.lru_cache(_MEMO)
def is_foreign(path: str) -> bool:
    """Whether the path shows that the file is not written in the project: vendored or generated."""
    return bool(vendored_folder(path)) or has_generated_name(path)


@functools.lru_cache(_MEMO)
def is_built(path: str) -> bool:
    """Whether the path shows that the file is built or fetched: by a folder, or as minified."""
    *folders, name = path.lower().split("/")
    return ".min." in name or _is_below(folders, BUILT_FOLDERS)


@functools.lru_cache(_MEMO)
def is_built_copy(path: str) -> bool:
    """Whether the path shows that the file repeats the project's sources: as a bundle, as a file of
    a folder of builds, or as declarations of types. Fetched and generated files are no copies.
    """
    *folders, name = path.lower().split("/")
    return _BUNDLE.search(name) is not None or _is_below(folders, _COPY_FOLDERS)


def _is_below(folders: Sequence[str], built: frozenset[str]) -> bool:
    """Whether one of `folders` is one of `built`, and no part of the code of the project."""
    first = next((at for at, folder in enumerate(folders) if folder in _CODE_FOLDERS), len(folders))
    return any(
        folder in built and (at < first or folder not in _CODE_PARTS) for at, folder in enumerate(folders)
    )


def is_unasked_copy(path: str, question: str) -> bool:
    """Whether a file is a built copy, and the question names neither the file nor its folder of
    builds nor its form, as `dist/` and `.d.ts`.
    """
    return is_built_copy(path) and not _names_copy(question, path)


def _names_copy(question: str, path: str) -> bool:
    *folders, name = path.lower().split("/")
    text = question.lower()
    form = _BUNDLE.search(name)
    return (
        name in text
        or (form is not None and (form[1] or form[2]) in text)
        or any(f"{folder}/" in text for folder in folders if folder in _COPY_FOLDERS)
        or ("dist" in folders and "dist" in tokens.part_words(question))
    )


@functools.lru_cache(_MEMO)
def is_unshipped(path: str) -> bool:
    """Whether a file is not shipped: script, example, page, vendored, generated or built."""
    first = path.partition("/")[0].lower()
    return first in _SCRIPT_FOLDERS or is_example(path) or is_foreign(path) or is_built(path)


def asks_for_tests(question: str) -> bool:
    """Whether the question asks for tests, fixtures, benchmarks or examples, in a word of its own
    (`TestClient`, `tests/a.py` and `test()` are names). Of a long text the title alone asks.
    """
    prose = question.strip()
    if len(prose.split()) > _TITLE_WORDS_MAX:
        prose = " ".join(prose.partition("\n")[0].split()[:_TITLE_WORDS_MAX])
    words = [match[1].lower().rpartition("-")[2] for match in _PROSE_WORD.finditer(prose)]
    return any(
        word in ASKING_WORDS and not (word == "example" and before == "for")
        for before, word in pairwise(["", *words])
    )


@functools.lru_cache(_MEMO)
def is_record(path: str) -> bool:
    """Whether the file records changes, grants a licence, pins versions or is a form to fill in."""
    *folders, name = path.lower().split("/")
    return _RECORD.search(name) is not None or not _TEMPLATE_FOLDERS.isdisjoint(folders)


def asks_for_records(question: str) -> bool:
    return not _RECORD_WORDS.isdisjoint(tokens.part_words(question))


def asks_for_documents(question: str) -> bool:
    """Whether the question names documents expressly."""
    return not _DOCUMENT_WORDS.isdisjoint(tokens.part_words(question))


def asks_how_to_use(question: str) -> bool:
    """Whether the question asks how to configure or run the project, or for a setting's default."""
    return _HOW_TO.search(question) is not None


def asks_for_documents_alone(question: str) -> bool:
    """Whether the question wants to read documents: "where is … documented", "guide to …"."""
    return _DOCUMENTS_ALONE.search(question) is not None


def may_ask_for_documents(question: str) -> bool:
    """Whether the question may mean documents or records, which are documents too."""
    words = _DOCUMENT_WORDS | _PAGE_WORDS | _RECORD_WORDS
    return not words.isdisjoint(tokens.part_words(question))


def is_template(path: str) -> bool:
    """Whether the file's name is that of a template of pages: ERB, Blade, Razor, Vue, HTML."""
    return _TEMPLATE.search(path) is not None


def asks_for_templates(question: str) -> float:
    """Return how surely a word of the question means templates, 0 to 1; parts of names, as in
    `TemplateRef`, do not.
    """
    words = {match[1].lower() for match in _PROSE_WORD.finditer(question)}
    if not _TEMPLATE_WORDS.isdisjoint(words):
        return 1.0
    return 0.0 if _TEMPLATE_OR_CODE_WORDS.isdisjoint(words) else _MAYBE_TEMPLATES


def template_share(path: str, question: Collection[str]) -> float:
    """Return how much of a template's name and of its folder's the words of a question have (0 to
    2). `question`: as `question_words` returns it.
    """
    *folders, _ = path.split("/")
    stem = [word for word in _stem_parts(path) if word not in _TEMPLATE_WORDS | _TEMPLATE_OR_CODE_WORDS] or [
        "index"
    ]
    names = (stem, tokens.part_words(folders[-1]) if folders else [])
    return sum(
        sum(tokens.lane_text([word]) in question for word in words) / max(1, len(words)) for words in names
    )


@functools.lru_cache(_MEMO)
def is_build(path: str) -> bool:
    """Whether the file configures how the project is built, checked, packed or run: by its name, or
    as a file without definitions in a script folder.
    """
    first, *others = path.lower().split("/")
    if _BUILD.search((first, *others)[-1]) is not None:
        return True
    language = language_of(path)
    return bool(others) and first in _SCRIPT_FOLDERS and (language.kind == "data" or not language.wheel)


def asks_for_build(question: str) -> bool:
    """Whether the question speaks of building, checking, packing or configuring the project."""
    return not (_BUILD_WORDS | _BUILD_OR_CODE_WORDS).isdisjoint(tokens.part_words(question))


def asks_for_build_alone(question: str) -> bool:
    """Whether the question does so by a word that seldom speaks of code."""
    return not _BUILD_WORDS.isdisjoint(tokens.part_words(question))


@functools.lru_cache(_MEMO)
def page_of(path: str) -> tuple[str, bool]:
    """Return (the path that a page shares with its translations, whether this page is in English or
    names no language): `docs/ja/a.md`, `docs/a.md` and `docs/a.fr.md` are translations of the same
    page.
    """
    *folders, name = path.split("/")
    stem, _, ending = name.rpartition(".")
    if ending.lower() not in _PAGES:
        return path, True
    first, _, last = stem.rpartition(".")
    language_codes = [
        component
        for component in (*folders, last if first else "")
        if component and _LANGUAGE.fullmatch(component)
    ]
    if first and _LANGUAGE.fullmatch(last):
        stem = first
    plain_folders = [folder for folder in folders if not _LANGUAGE.fullmatch(folder)]
    return "/".join((*plain_folders, f"{stem}.{ending}")), all(
        code.lower().startswith("en") for code in language_codes
    )


def names_english(path: str) -> bool:
    """Whether a folder or the file's name says that its text is English: `lang/en/auth.php`."""
    return re.search(r"(?:^|[/._-])en(?:[-_][a-z]{2})?(?=[/.])", path, re.IGNORECASE) is not None


def question_words(question: str) -> frozenset[str]:
    """Return the stems and joined forms of a question, for comparison with names."""
    return frozenset(tokens.lane_words(question))


@dataclass(frozen=True, slots=True)
class PathTraits:
    """Features of a path for ranking, independent of the query: `stem` are the parts of the file's
    stem, `folders` those of the folders' names, each stem once. All in lower case.
    """

    #: TEST, EXAMPLE, FOREIGN
    kinds: int
    stem: tuple[str, ...]
    folders: tuple[str, ...]
    #: path before the first folder named like a version, and its number
    version: tuple[str, int] | None


def path_traits(path: str) -> PathTraits:
    *folders, _name = path.split("/")
    parts: dict[str, str] = {}
    for word in (word for folder in folders for word in tokens.part_words(folder)):
        parts.setdefault(tokens.lane_text([word]), word)
    version = _VERSION_FOLDER.search(path)
    return PathTraits(
        kinds=TEST * is_test(path) + EXAMPLE * is_example(path) + FOREIGN * is_foreign(path),
        stem=tuple(_stem_parts(path)),
        folders=tuple(parts.values()),
        version=(version[1], int(version[2])) if version is not None else None,
    )


def superseded(traits: Iterable[PathTraits], question: str, projects: Iterable[str] = ()) -> list[bool]:
    """Return for each path whether it is in a folder like `v3` while another path is in `v4` or
    later at the same place, in the same project. `projects` has one entry for each path; none: one
    project.

    All False if the question names a version.
    """
    versions = [path.version for path in traits]
    if not any(versions):  # as in most projects
        return [False] * len(versions)
    versions_with_projects = list(zip(versions, list(projects) or [""] * len(versions), strict=True))
    newest: dict[tuple[str, str], int] = {}
    for version, project in versions_with_projects:
        if version is not None:
            newest[project, version[0]] = max(newest.get((project, version[0]), 0), version[1])
    asks_version = _VERSION.search(question) is not None
    return [
        version is not None and not asks_version and version[1] < newest[project, version[0]]
        for version, project in versions_with_projects
    ]


def _stem_parts(path: str) -> list[str]:
    """Return the lower-cased parts of a file's stem, of its folder's for one like `index`."""
    *folders, name = path.split("/")
    stem = name[: name.rindex(".")] if "." in name[1:] else name
    if stem.lower() in EMPTY_STEMS and folders:
        stem = folders[-1]
    return tokens.part_words(stem)
