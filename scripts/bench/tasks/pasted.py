"""Hard questions made from easy ones and from places in files: typing errors, long issues, stack
traces in the forms of 15 languages. Pure; the same seed makes the same.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

#: letters of a mistyped word, at least
MISTYPED_CHARS_MIN = 5
#: words of a long issue
ISSUE_WORDS = 2000
#: language → (ending of its files, a trace from one place to another)
TRACES = {
    "Python": (
        ".py",
        (
            'Traceback (most recent call last):\n  File "{outer}", line {outer_line}, in {outer_name}\n    run()\n'
            "  File \"{path}\", line {line}, in {name}\n    value = items[key]\nKeyError: 'first'"
        ),
    ),
    "JavaScript": (
        ".js",
        (
            "TypeError: Cannot read properties of undefined (reading 'first')\n    at {name} ({path}:{line}:13)\n"
            "    at {outer_name} ({outer}:{outer_line}:5)\n    at node:internal/main/run_main_module:23:47"
        ),
    ),
    "TypeScript": (
        ".ts",
        "Error: not allowed\n    at Object.{name} ({path}:{line}:9)\n    at async {outer_name} ({outer}:{outer_line}:3)",
    ),
    "Java": (
        ".java",
        (
            'Exception in thread "main" java.lang.IllegalStateException: closed\n\tat {dotted}.{name}({file}:{line})\n'
            "\tat {outer_dotted}.{outer_name}({outer_file}:{outer_line})\n\tat java.base/java.lang.Thread.run(Thread.java:833)"
        ),
    ),
    "Kotlin": (
        ".kt",
        (
            'Exception in thread "main" kotlin.UninitializedPropertyAccessException: not initialised\n'
            "\tat {dotted}.{name}({file}:{line})\n\tat {outer_dotted}.{outer_name}({outer_file}:{outer_line})"
        ),
    ),
    "Scala": (
        ".scala",
        (
            "scala.MatchError: None (of class scala.None$)\n\tat {dotted}$.{name}({file}:{line})\n"
            "\tat {outer_dotted}$.{outer_name}({outer_file}:{outer_line})"
        ),
    ),
    "Go": (
        ".go",
        (
            "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.{name}(0x1)\n"
            "\t{path}:{line} +0x1b\nmain.{outer_name}()\n\t{outer}:{outer_line} +0x2c\nexit status 2"
        ),
    ),
    "Rust": (
        ".rs",
        (
            "thread 'main' panicked at {path}:{line}:9:\ncalled `Option::unwrap()` on a `None` value\nstack backtrace:\n"
            "   0: rust_begin_unwind\n   1: app::{name}\n             at {path}:{line}:9\n   2: app::{outer_name}\n"
            "             at {outer}:{outer_line}:5"
        ),
    ),
    "Ruby": (
        ".rb",
        (
            "{path}:{line}:in `{name}': undefined method `first' for nil:NilClass (NoMethodError)\n"
            "\tfrom {outer}:{outer_line}:in `{outer_name}'"
        ),
    ),
    "PHP": (
        ".php",
        (
            "PHP Fatal error:  Uncaught TypeError: must be of type int, null given in {path}:{line}\nStack trace:\n"
            "#0 {outer}({outer_line}): {name}(NULL)\n#1 {{main}}\n  thrown in {path} on line {line}"
        ),
    ),
    "C#": (
        ".cs",
        (
            "Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object.\n"
            "   at App.{name}() in {path}:line {line}\n   at App.{outer_name}() in {outer}:line {outer_line}"
        ),
    ),
    "C": (
        ".c",
        (
            "Program received signal SIGSEGV, Segmentation fault.\n#0  0x000055d1 in {name} (s=0x0) at {path}:{line}\n"
            "#1  0x000055f2 in {outer_name} () at {outer}:{outer_line}"
        ),
    ),
    "C++": (
        ".cpp",
        (
            "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\n"
            "    #0 0x4f8d in {name} {path}:{line}:12\n    #1 0x4f9a in {outer_name} {outer}:{outer_line}:3"
        ),
    ),
    "Swift": (
        ".swift",
        (
            "Fatal error: Unexpectedly found nil while unwrapping an Optional value\n"
            "1 0x00a1 {name}() at {path}:{line}:14\n2 0x00b2 {outer_name}() at {outer}:{outer_line}:5"
        ),
    ),
    "Elixir": (
        ".ex",
        (
            "** (FunctionClauseError) no function clause matching\n    (shop 0.1.0) {path}:{line}: {name}/2\n"
            "    (shop 0.1.0) {outer}:{outer_line}: {outer_name}/1\n    (elixir 1.15.7) lib/enum.ex:987: Enum.map/2"
        ),
    ),
}
_DEFINES = re.compile(
    r"\b(?:def|defp|func|fn|fun|function|void|int|long|bool|string|String)\s+(?:\([^)\n]*\)\s*)?\*?(\w+)\s*[(<]"
)
_PROSE = (
    "I first saw this after the last update",
    "it does not happen on my colleague's laptop",
    "we tried to clear everything and to start again",
    "the same happens in a fresh container",
    "sorry for the long text, I wanted to give you all that I have",
    "a restart helps for a while",
    "I could not find anything like it among the open issues",
    "please tell me what else you need",
    "we have used this for two years without any trouble",
    "it may have to do with the network at our office",
    "on Monday it worked, on Tuesday it did not",
    "I have read the manual twice",
    "our build takes the image of last week",
    "thank you for your work on this",
)
_LOG = (
    "2026-03-{at:02d} 10:{at:02d}:07,412 INFO  [pool-1-thread-{at}] started in {at}41 ms",
    "2026-03-{at:02d} 11:{at:02d}:19,003 DEBUG [http-nio-8080-exec-{at}] 200 OK",
    "requests=={at}.31.0  numpy==1.{at}.4  click==8.{at}.7  rich==13.{at}.0",
    "- [x] I have searched for the same issue   - [ ] I can send a pull request",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a function in a file of the project."""

    path: str
    line: int
    name: str


def places_of(path: str, text: str) -> Iterator[Place]:
    """Yield the line after each line that begins a function."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _DEFINES.search(line):
            yield Place(path, number + 1, match[1])


def mistype(question: str, draw: random.Random) -> str:
    """Return the question with a mistake in every second word of MISTYPED_CHARS_MIN letters, from
    the first on.
    """
    long = 0

    def mistyped(match: re.Match[str]) -> str:
        nonlocal long
        long += 1
        return _with_mistake(match[0], draw) if long % 2 else match[0]

    return re.sub(rf"[^\W\d_]{{{MISTYPED_CHARS_MIN},}}", mistyped, question)


def _with_mistake(word: str, draw: random.Random) -> str:
    at = draw.randrange(1, len(word) - 1)
    return draw.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + draw.choice(string.ascii_lowercase) + word[at + 1 :],
        )
    )


def bury(question: str, draw: random.Random) -> str:
    """Return an issue of ISSUE_WORDS words with `question` as its title only."""
    parts = [f"# {question}", "", "## What happened", ""]
    words = 0
    while words < ISSUE_WORDS:
        prose = ", and ".join(draw.sample(_PROSE, 4)).capitalize() + "."
        log = draw.choice(_LOG).format(at=draw.randrange(10, 29))
        parts += [prose, log, ""]
        words += len(prose.split()) + len(log.split())
    return "\n".join(parts)


def trace(language: str, place: Place, outer: Place) -> str:
    """Return a trace that ends at `place`, with paths as on another person's machine."""
    return TRACES[language][1].format(
        path=_build_path(place.path),
        file=place.path.rsplit("/", 1)[-1],
        dotted=_dotted(place.path),
        line=place.line,
        name=place.name,
        outer=_build_path(outer.path),
        outer_file=outer.path.rsplit("/", 1)[-1],
        outer_dotted=_dotted(outer.path),
        outer_line=outer.line,
        outer_name=outer.name,
    )


def _build_path(path: str) -> str:
    return "/build/agent/7/src/" + "/".join(path.split("/")[-2:])


def _dotted(path: str) -> str:
    """Return a class of a package that no language's own library has."""
    return f"com.acme.{path.rsplit('/', 1)[-1].partition('.')[0]}"
