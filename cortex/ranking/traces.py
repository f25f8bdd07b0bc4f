"""Parser of stack-trace frames and error lines in the forms of some fifteen languages. Pure."""

import re
from dataclasses import dataclass
from itertools import islice

import numpy as np

#: largest number of frames
FRAMES_MAX = 200

# Every expression is linear in the text: it starts at the beginning of a word or a line only, and
# nothing is nested.
START = r"(?<![\w./\\@+~-])"
ENDING = r"[A-Za-z]\w{0,7}"
#: endings of source and similar files, where only the ending tells a path from a word with a dot
KNOWN_ENDINGS = (
    r"(?:py|pyi|pyx|js|jsx|ts|tsx|mjs|cjs|vue|svelte|go|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|hh|m|mm|cs|fs|vb|rb|rake|php|pl|pm|"
    r"lua|r|jl|swift|dart|ex|exs|erl|hs|ml|mli|clj|cljs|sh|bash|zsh|fish|ps1|sql|html|css|scss|sass|less|md|rst|txt|json|ya?ml|toml|"
    r"ini|cfg|conf|xml|gradle|proto|tf|zig|nim|vim|el|nix|cmake|tpl|erb|haml|ipynb)"
)
_PATH = re.compile(rf"[^:#\s]*\.{KNOWN_ENDINGS}|[^:#]*/[^/:#]*\.{KNOWN_ENDINGS}|[^:#]*/", re.IGNORECASE)
_PYTHON = re.compile(r'File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,7})(?:, in (?P<name>[\w.<>]+))?')
#: other languages write the place as `path:line` or `path(line)`
_FRAME = re.compile(
    rf"(?P<path>{START}(?:[A-Za-z]:)?[\w./\\@+~-]*\w\.{ENDING})(?::line |[:(]|#L|, line )(?P<line>\d{{1,7}})(?!\w)(?::\d+)?\)?"
    r"(?::? in (?P<name>[\w.<>]+))?"
)
_JAVA = re.compile(
    r"^[ \t]*at (?:[\w.@-]+/)?(?P<name>[\w$.]+(?:<init>)?)\((?P<file>[\w$]+\.\w+):(?P<line>\d{1,7})\)",
    re.MULTILINE,
)
#: the function of a frame, if it precedes the place
_AT = re.compile(
    r"[ \t]*(?:at|from|in|by|#\d+|\d+:)[ \t]+(?:async |new |0x[0-9a-f]+ (?:in|-) )?(?P<name>[\w.$:<>~]*\w)"
)
_RUBY_IN = re.compile(r":in [`'](?P<name>[^'`\n]{1,200})'")
#: Go and Rust: the function on one line, its place on the next
_ALONE = re.compile(
    r"[ \t]*(?:\d+:[ \t]+)?(?:0x[0-9a-f]+ - )?(?P<name>[\w.$:*()<>/@-]*[\w>])(?:\([^\n]*\))?[ \t]*"
)
_HEAD = re.compile(r"[ \t]*(?:(?:at|from|\d+:|#\d+)[ \t]|\([\w.-]+ [\d.]+\) )|goroutine \d+|created by ")
#: traces that begin with the outermost call
_OUTERMOST_FIRST = re.compile(r"most recent call last|^\S+:\d+: in \w", re.MULTILINE)
#: a line with an error, in `message`
ERROR = re.compile(
    r"^[ \t]*(?:E[ \t]+|\*\* \(|PHP )?(?:Fatal error:[ \t]+)?(?:Exception in thread \"[^\"\n]*\" |Caused by: |Uncaught (?:\(in promise\) )?|\[?ERROR\]?[ \t:]+|thread '[^'\n]*' )?"
    r"(?P<message>(?:[\w.$\\]*(?:Error|Exception|Warning|Failure|Fault|Panic)\b(?: \[[\w-]+\])?|panicked at|panic|fatal(?: error)?|"
    r"error(?:\[E\d+\])?|FATAL|Segmentation fault)(?:[: ][^\n]*|$))",
    re.MULTILINE,
)
_URL = re.compile(r"\bhttps?://\S+")
_HASH = re.compile(r"h[0-9a-f]{16}|closure|impl|init|locals")

#: paths of the languages' own libraries and run times
_FOREIGN = re.compile(
    r"(?:^|/)(?:lib/python\d[\w.]*/(?!site-packages|dist-packages)|Python\.framework/|usr/local/go/src/|go/src/runtime/|rustc/[0-9a-f]+/|"
    r"usr/include/|usr/lib/gcc/|usr/lib/ruby/\d|runtime/(?:panic|proc|asm_\w+)\.\w+)|^(?:node:|internal/|<)|\.rustup/toolchains"
)
_FOREIGN_NAMES = tuple(
    "java. javax. jdk. sun. kotlin. scala. System. Microsoft. std:: core:: alloc:: runtime. rust_begin_".split()
)
#: prefix of third-party packages: the remainder may still be a path of this project
_PACKAGES = re.compile(
    r"^.*?(?:site-packages|dist-packages|node_modules/(?:@[\w.-]+/)?[\w.-]+|pkg/mod/[^@]+@[^/]+|registry/src/[^/]+/[\w.-]+|"
    r"gems/[\w.-]+-\d[\w.]*)/"
)
#: function names without meaning
_EMPTY_NAMES = frozenset("module lambda listcomp main anonymous call __call__ run init".split())
#: last parts of host names, lest `host:port` is read as a file with a line
_HOSTS = frozenset("com org net io dev local internal host".split())


@dataclass(frozen=True, slots=True)
class Frame:
    path: str
    line: int
    name: str = ""


def looks_like_path(text: str) -> bool:
    """Whether a text is a path by its look: it ends as source files do, or with a slash."""
    return _PATH.fullmatch(text) is not None


def find_frames(text: str) -> list[Frame]:
    """Return each place `path:line` in a text once, a trace's innermost frame first."""
    placed_frames: list[tuple[int, Frame]] = []
    taken = [match.span() for match in _URL.finditer(text) if not _is_local_page(match[0])]
    for match in _PYTHON.finditer(text):
        placed_frames.append(
            (match.start(), Frame(clean_path(match["path"]), int(match["line"]), short_name(match["name"])))
        )
        taken.append(match.span())
    backwards = bool(placed_frames) or _OUTERMOST_FIRST.search(text) is not None
    for match in _JAVA.finditer(text):
        name = match["name"]
        path = "/".join([*name.split(".")[:-2], match["file"]])
        if not name.startswith(_FOREIGN_NAMES):
            placed_frames.append((match.start(), Frame(path, int(match["line"]), short_name(name))))
        taken.append(match.span())
    spans = np.array(sorted(taken) or [(-1, -1)])
    for match in islice(_FRAME.finditer(text), FRAMES_MAX):
        before = int(np.searchsorted(spans[:, 0], match.start(), side="right")) - 1
        inside = before >= 0 and match.start() < spans[before, 1]
        if not inside and not _is_no_file(match["path"], text[match.end("path")]):
            name = match["name"] or _nearby_name(text, match.start(), match.end())
            if not name.startswith(_FOREIGN_NAMES):
                placed_frames.append(
                    (match.start(), Frame(clean_path(match["path"]), int(match["line"]), short_name(name)))
                )
    placed_frames.sort(key=lambda pair: -pair[0] if backwards else pair[0])
    frames = [frame for _, frame in placed_frames if not is_foreign(frame.path)]
    return list(dict.fromkeys(frames))[:FRAMES_MAX]


def is_python_frame(line: str) -> bool:
    return _PYTHON.search(line) is not None


def is_frame(line: str) -> bool:
    """Whether a line is only a frame."""
    return bool(_HEAD.match(line) or _FRAME.match(line.strip()))


def names_function(line: str) -> bool:
    """Whether a line is only a function's name, as in the line above its place."""
    return _ALONE.fullmatch(line) is not None


def _is_local_page(url: str) -> bool:
    """Whether a link may belong to a frame: a page's script on this machine."""
    return "//localhost" in url or "//127.0.0.1" in url


def _nearby_name(text: str, start: int, end: int) -> str:
    """Return the function named before a place, also on the line above, or behind it (Ruby)."""
    begin = text.rfind("\n", 0, start) + 1
    if match := _RUBY_IN.match(text, end):
        return match["name"]
    if (match := _AT.match(text, begin, start)) and match["name"] not in ("at", "in", "async"):
        return match["name"]
    above = text[text.rfind("\n", 0, max(0, begin - 1)) + 1 : max(0, begin - 1)]
    if text[begin : begin + 1].isspace() and (match := _ALONE.fullmatch(above)):
        return match["name"]
    return ""


def short_name(name: str | None) -> str:
    """Return the last part: `main.(*Server).handle` → handle, `Store#load` → load; "" if none."""
    if not name or name.startswith("<"):
        return ""
    parts = [piece for piece in re.split(r"::|[.#$/()*<>\s]+", name) if piece and not _HASH.fullmatch(piece)]
    return "" if not parts or parts[-1] in _EMPTY_NAMES else parts[-1]


def clean_path(path: str) -> str:
    """Return a path with forward slashes, without the prefix of a third-party package."""
    path = re.sub(r"^[A-Za-z]:/", "/", path.replace("\\", "/"))
    return (_PACKAGES.sub("", path) or path).removeprefix("./")


def is_foreign(path: str) -> bool:
    """Whether a path belongs to a language's own library or run time."""
    return _FOREIGN.search(path) is not None


def file_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _is_no_file(path: str, behind: str) -> bool:
    """Whether a match is no file: a host (`example.com:443`), or a call (`store.load(1)`)."""
    ending = path.rpartition(".")[2].lower()
    return ("/" not in path and ending in _HOSTS) or (
        behind == "(" and not re.fullmatch(KNOWN_ENDINGS, ending)
    )
