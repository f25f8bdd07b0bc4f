"""Multiplatform Kotlin: visibility between source sets, type aliases, properties that hide a
parameter, calls on strings.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.kotlin.source_sets import sees
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

COMMON, JVM, NATIVE = (f"src/{source_set}Main/kotlin/Disk.kt" for source_set in ("common", "jvm", "native"))
_FILES = {
    COMMON: "expect class Disk {\n  fun save(quick: Boolean = false)\n}\nexpect class Failure\n",
    JVM: (
        "actual class Disk {\n  actual fun save(quick: Boolean) {}\n  fun save() {}\n}\n"
        "actual typealias Failure = java.io.IOException\n"
    ),
    NATIVE: "actual class Disk {\n  actual fun save(quick: Boolean) {}\n}\nactual class Failure\nfun Disk.wipe() {}\n",
}


def edges(files: dict[str, str], path: str) -> list[tuple[int, str]]:
    """Return (line, target) of the calls of a file."""
    project = Project(LANGUAGES)
    project.update(
        {file: facts_of(decode(file, text.encode()), digest(text.encode())) for file, text in files.items()}
    )
    file_edges = edges_of(project, Evaluator(project), path)
    return [(edge.location.line, edge.target) for edge in file_edges if edge.type == "calls"]


def ids(*names: str) -> set[str]:
    return {name.replace(".kt", "") for name in names}


@pytest.mark.parametrize(
    ("folder", "called"),
    [
        ("commonTest", ids(f"{COMMON}:Disk.save", f"{JVM}:Disk.save", f"{NATIVE}:Disk.save")),
        ("jvmTest", ids(f"{JVM}:Disk.save~2")),
    ],
)
def test_common_code_calls_common_functions_and_platform_code_its_own(folder, called):
    use = f"src/{folder}/kotlin/Use.kt"
    files = _FILES | {use: "fun f(disk: Disk) {\n  disk.save()\n}\n"}
    assert {target for _, target in edges(files, use)} == called


def test_one_system_does_not_see_anothers_extension():
    calls = "fun f(disk: Disk) {\n  disk.wipe()\n}\n"
    seeing, unseen = "src/nativeMain/kotlin/Use.kt", "src/jvmMain/kotlin/Use.kt"
    assert edges(_FILES | {seeing: calls}, seeing) == [(2, f"{NATIVE[:-3]}:Disk.wipe")]
    assert edges(_FILES | {unseen: calls}, unseen) == []


def test_extensions_of_another_platforms_alias_are_not_visible():
    other = "src/nativeMain/kotlin/Other.kt"
    files = _FILES | {
        other: "typealias Store = Disk\nfun Store.wipe() {}\nfun String.close() {}\n",
        JVM: f"{_FILES[JVM]}fun Store.close() {{}}\n",
    }
    calls = "fun f(disk: Disk, name: Name) {\n  disk.close()\n  name.wipe()\n}\n"
    use = "src/nativeMain/kotlin/Use.kt"
    assert edges(files | {use: calls}, use) == []


def test_an_alias_of_an_outside_type_is_no_call_into_the_project():
    jvm = "src/jvmMain/kotlin/Use.kt"
    assert edges(_FILES | {jvm: "fun f() {\n  throw Failure()\n}\n"}, jvm) == []
    common = "src/commonMain/kotlin/Use.kt"
    calls = edges(_FILES | {common: "fun f() {\n  throw Failure()\n}\n"}, common)
    assert (2, f"{COMMON[:-3]}:Failure") in calls


def test_an_alias_of_a_project_type_calls_that_type():
    text = "class Outer {\n  class Disk(x: Int)\n}\ntypealias Store = Outer.Disk\nfun f() {\n  Store(1)\n}\n"
    assert edges({"a.kt": text}, "a.kt") == [(6, "a:Outer.Disk")]


def test_a_nested_base_type_is_found():
    text = (
        "open class Outer {\n  fun save() {}\n  open class Inner {\n    fun save() {}\n  }\n}\n"
        "class Disk : Outer.Inner()\nfun f(disk: Disk) {\n  disk.save()\n}\n"
    )
    assert (9, "a:Outer.Inner.save") in edges({"a.kt": text}, "a.kt")


SHADOWED = """class Disk { fun save() {} }
class Tape {
  fun save() {}
  fun disk() = Disk()
}
class Held(tape: Tape, other: Tape) {
  private val tape = tape.disk()
  private val other = other
  fun f() {
    tape.save()
    other.save()
  }
}
"""


def test_a_property_hides_the_parameter_that_initialises_it():
    saves = [call for call in edges({"a.kt": SHADOWED}, "a.kt") if call[1].endswith("save")]
    assert saves == [(10, "a:Disk.save"), (11, "a:Tape.save")]


def test_the_result_of_a_string_extension_has_its_members():
    text = (
        "class Disk {\n  fun save() {}\n}\nclass Tape {\n  fun save() {}\n}\n"
        'fun String.load(): Disk = Disk()\nfun f() {\n  "a".load().save()\n}\n'
    )
    assert (9, "a:Disk.save") in edges({"a.kt": text}, "a.kt")


@pytest.mark.parametrize(
    ("path", "other", "wanted"),
    [
        ("src/commonMain/kotlin/A.kt", "src/jvmMain/kotlin/B.kt", False),
        ("src/jvmTest/kotlin/A.kt", "src/commonMain/kotlin/B.kt", True),
        ("src/jvmTest/kotlin/A.kt", "src/linuxX64Main/kotlin/B.kt", False),
        ("src/nonJvmMain/kotlin/A.kt", "src/jvmMain/kotlin/B.kt", False),
        ("src/nonJvmMain/kotlin/A.kt", "src/appleMain/kotlin/B.kt", True),
        ("src/wasmJsMain/kotlin/A.kt", "src/webMain/kotlin/B.kt", True),
        ("src/commonMain/kotlin/A.kt", "src/hashFunctions/kotlin/B.kt", True),
        ("io/common/src/A.kt", "io/jvmAndPosix/src/B.kt", False),
        ("io/posix/src/A.kt", "io/jvmAndPosix/src/B.kt", True),
        ("common/src/main/kotlin/A.kt", "jvm/src/main/kotlin/B.kt", True),
        ("app/src/A.kt", "jvm/src/B.kt", True),
    ],
)
def test_source_sets_see_what_they_are_compiled_with(path, other, wanted):
    assert sees(path, other) is wanted


NAMES = """package n

import m.Disk.Companion.make
import m.more
import m.two

fun socket(x: Int): m.Disk = TODO()
class Use {
  fun f(long: Long, short: Short) {
    make().save()
    val socket = socket(1)
    socket.save()
    buildString {
      more(1)
    }
    long.turn()
    short.turn()
  }
}
fun String.g() {
  two().save()
}
fun Long.turn() {}
fun Short.turn() {}
"""
_NAMES_DEFINED = """package m

class Disk {
  fun save() {}
  companion object {
    fun make(): Disk = Disk()
  }
}
class Tape {
  fun save() {}
}
fun StringBuilder.more(x: Int) {}
fun String.two(): Disk = Disk()
"""
#: a line of NAMES → its calls
CALLED = {
    10: {"m/Disk:Disk.make", "m/Disk:Disk.save"},
    11: {"n/Use:socket"},
    12: {"m/Disk:Disk.save"},
    14: {"m/Disk:StringBuilder.more"},
    16: {"n/Use:Long.turn"},
    17: {"n/Use:Short.turn"},
    21: {"m/Disk:String.two", "m/Disk:Disk.save"},
}


def test_names_distinguish_companions_members_variables_and_outside_extensions():
    targets: dict[int, set[str]] = {}
    for line, target in edges({"n/Use.kt": NAMES, "m/Disk.kt": _NAMES_DEFINED}, "n/Use.kt"):
        targets.setdefault(line, set()).add(target)
    assert targets == CALLED
