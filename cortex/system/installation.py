"""How this installation was made, read from the files that installers leave, and its optional
extras.
"""

import functools
import importlib.util
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from cortex.system.folders import path_names
from cortex.system.loaded_code import SOURCE

#: name of the distribution
DISTRIBUTION = "cortex-context-engine"
#: extra → the modules that it installs: heavy packages (ast-grep takes 46 MB of disk, the SQL
#: grammar 14) that most projects do not need
EXTRAS: dict[str, tuple[str, ...]] = {
    "documents": ("docx", "openpyxl", "pptx", "pypdf"),
    "milvus": ("milvus_lite", "pymilvus"),
    "onnx": ("onnxruntime", "tokenizers"),
    "patterns": ("ast_grep_py",),
    "postgresql": ("psycopg",),
    "private": ("cryptography", "keyring"),
    "sql": ("tree_sitter_sql",),
}

#: the extras that are grammars: without them, files of these languages are chunked as plain text
GRAMMARS = ("sql",)


@functools.cache
def is_installed(module: str) -> bool:
    """Whether `module` can be imported; does not import it."""
    return importlib.util.find_spec(module) is not None


def missing_extras(among: Iterable[str] = tuple(EXTRAS)) -> list[str]:
    """List the extras with at least one module that is not installed."""
    return [name for name in among if not all(map(is_installed, EXTRAS[name]))]


def extra_of(module: str) -> str:
    """Return the extra that installs a module, "" for a module that is always installed."""
    return next((name for name, modules in EXTRAS.items() if module in modules), "")


def how_to_add(extras: str, prefix: str = "") -> str:
    """Return the command that adds extras (`sql`, or several separated by commas) to this
    installation.

    `prefix` is as for `how_to_upgrade`. For installers that rebuild the environment, the command
    lists the installed extras as well.
    """
    folder = Path(prefix or sys.prefix)
    installed = set(EXTRAS) - set(missing_extras())
    editable = "-e " if _clone_path() else ""
    wanted = editable + _requirement({*extras.split(","), *installed})
    if (folder / "uv-receipt.toml").is_file():
        return f"uv tool install {wanted}"
    if (folder / "pipx_metadata.json").is_file():
        return f"pipx install --force {wanted}"
    if _is_cache(folder):
        return f"uvx --from {wanted} cortex"
    return f"{_pip_install(folder)} {editable}{_requirement(extras.split(','))}"


def how_to_upgrade(prefix: str = "") -> str:
    """Return the command that upgrades Cortex. `prefix`: the environment, "" for this one."""
    folder = Path(prefix or sys.prefix)
    origin = _origin()
    source = path_names.path_of(origin.get("url", "")) if _is_local(origin) else ""
    pull = f"git -C {shlex.quote(source)} pull && " if source and (Path(source) / ".git").exists() else ""
    installed = _requirement(set(EXTRAS) - set(missing_extras())) if origin else DISTRIBUTION
    clone = _clone_path()
    if clone:
        installed = f"-e {installed}"
    if (folder / "uv-receipt.toml").is_file():
        return (
            f"{pull}uv tool install --reinstall {installed}" if origin else f"uv tool upgrade {DISTRIBUTION}"
        )
    if (folder / "pipx_metadata.json").is_file():
        return f"{pull}pipx install --force {installed}" if origin else f"pipx upgrade {DISTRIBUTION}"
    if clone and folder == Path(clone, ".venv") and Path(clone, "scripts", "setup").is_file():
        return f"{pull}{shlex.quote(f'{clone}/scripts/setup')}"
    if _is_cache(folder):
        if origin:
            return f"{pull}uvx --refresh --from {installed} cortex"
        return f"uvx takes the newest by itself: uvx --refresh {DISTRIBUTION}"
    pip = _pip_install(folder)
    if not origin or "dir_info" in origin:
        return f"{pull}{pip} --upgrade {installed}"
    # All commits of a version have the same number, so pip leaves what comes from an address or an
    # archive. The second command adds new dependencies; --force-reinstall alone takes all of them.
    return f"{pip} --force-reinstall --no-deps {installed} && {pip} {installed}"


def how_to_remove(prefix: str = "") -> str:
    """Return the command that removes Cortex; `prefix` is as for `how_to_upgrade`."""
    folder = Path(prefix or sys.prefix)
    if (folder / "uv-receipt.toml").is_file():
        return f"uv tool uninstall {DISTRIBUTION}"
    if (folder / "pipx_metadata.json").is_file():
        return f"pipx uninstall {DISTRIBUTION}"
    if _is_cache(folder):
        return f"uv cache clean {DISTRIBUTION}"
    return _pip_install(folder).replace("pip install", "pip uninstall", 1) + f" {DISTRIBUTION}"


def _pip_install(folder: Path) -> str:
    """Return the command that installs into the environment `folder`: the first pip on the PATH
    may be another environment's, and environments of uv have none.
    """
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if shutil.which("pip") == str(programs / "pip"):
        return "pip install"
    python = shlex.quote(str(programs / "python"))
    if is_installed("pip") or not shutil.which("uv"):
        return f"{python} -m pip install"
    return f"uv pip install --python {python}"


def _requirement(extras: Iterable[str]) -> str:
    """Return the quoted requirement of Cortex with `extras`: by its name if it was installed by
    name, else by its folder, file or address. A name alone may be in no index.
    """
    listed = ",".join(sorted(extras))
    suffix = f"[{listed}]" if listed else ""
    origin = _origin()
    url = origin.get("url", "")
    if not url:
        return shlex.quote(f"{DISTRIBUTION}{suffix}")
    if _is_local(origin):
        return shlex.quote(f"{path_names.path_of(url)}{suffix}")
    system = origin.get("vcs_info", {}).get("vcs", "")
    address = f"{system}+{url}" if system else url
    if revision := origin.get("vcs_info", {}).get("requested_revision"):
        address += f"@{revision}"
    return shlex.quote(f"{DISTRIBUTION}{suffix} @ {address}")


def _clone_path() -> str:
    """Return the clone that an editable installation runs from, else ""."""
    origin = _origin()
    editable = origin.get("dir_info", {}).get("editable")
    return path_names.path_of(origin.get("url", "")) if editable else ""


def _is_local(origin: dict[str, Any]) -> bool:
    return "vcs_info" not in origin and str(origin.get("url", "")).startswith("file:")


@functools.cache
def _origin() -> dict[str, Any]:
    """Return the record of an installation from a folder, file or address (PEP 610); {} for one by
    name. Code that is not installed counts as an editable clone.
    """
    import importlib.metadata  # 1.3 MB with the mail parser that it imports

    try:
        record = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        origin = msgspec.json.decode(record or "{}", type=dict[str, Any])
    except importlib.metadata.PackageNotFoundError:
        return {"url": SOURCE.as_uri(), "dir_info": {"editable": True}}
    except msgspec.MsgspecError:
        return {}
    return origin if isinstance(origin.get("url"), str) else {}


def _is_cache(folder: Path) -> bool:
    """Whether uvx made the environment for a single run."""
    return "uv" in folder.parts and any(component.startswith("archive-v") for component in folder.parts)
