"""How systems name folders and files, where Windows differs: drives, both slashes, case, and the
folders for data of programs. Opens no file.

Each function takes the system as an argument, so that Windows' rules can be tested anywhere.
"""

import ntpath
import os
import posixpath
import re
import urllib.parse
from collections.abc import Mapping

from cortex.system.hosts import WINDOWS

#: a drive before a path, as a URI has it: /C:/Users, and /c|/Users of old programs
_DRIVE_OF_URI = re.compile(r"/([A-Za-z])[:|](?=/|$)")


def is_absolute(path: str, *, windows: bool = WINDOWS) -> bool:
    r"""Whether `path` is the same place for every process. On Windows that needs a drive: `\x`
    depends on the current drive (os.path.isabs accepted it before 3.13).
    """
    if not windows:
        return posixpath.isabs(path)
    drive, tail = ntpath.splitdrive(path)
    return bool(drive) and tail[:1] in ("\\", "/")


def inside(path: str, root: str, *, windows: bool = WINDOWS) -> str:
    """Return a path, absolute or relative to the folder `root`, as the index names it: relative to
    `root`, with `/`. "" for the folder itself and for paths outside.
    """
    system = ntpath if windows else posixpath
    full_path = system.normpath(system.join(root, path))
    top = system.normpath(root).rstrip(system.sep) + system.sep
    same = system.normcase(full_path).startswith(system.normcase(top))
    return full_path[len(top) :].replace(system.sep, "/") if same else ""


def stays_inside(path: str, *, windows: bool = WINDOWS) -> bool:
    r"""Whether a path of the index stays below its folder, judged by its text. On Windows `..\x`,
    `C:x` and a stream of a file (`a.py:b`) do not.
    """
    if windows:
        path = path.replace("\\", "/")
    return not path.startswith("/") and ".." not in path.split("/") and not (windows and ":" in path)


def path_of(uri: str, *, windows: bool = WINDOWS) -> str:
    """Return the path of a file:// URI, "" for another URI. Editors write a drive as /c%3A/."""
    parts = urllib.parse.urlsplit(uri)
    if parts.scheme != "file" or not parts.path:
        return ""
    path = urllib.parse.unquote(parts.path)
    if not windows:
        return path
    if parts.netloc and parts.netloc != "localhost":
        return ntpath.normpath(f"//{parts.netloc}{path}")
    return ntpath.normpath(_DRIVE_OF_URI.sub(r"\1:", path, count=1))


def home_variable(variables: Mapping[str, str] = os.environ, *, windows: bool = WINDOWS) -> str:
    """Return the name of the variable that holds the user's home folder. Shells on Windows set HOME
    as well, to a form that other programs do not understand (/c/Users/x).
    """
    return "USERPROFILE" if windows and variables.get("USERPROFILE") else "HOME"


def own_folder(kind: str, user_home: str, variables: Mapping[str, str] = os.environ) -> str:
    r"""Return Cortex's folder on Windows, inside the user's profile and guarded by its rights:
    `cache` and `run` belong to this machine (%LOCALAPPDATA%\cortex), `config` to the user
    (%APPDATA%\cortex).
    """
    variable, usual = ("APPDATA", "Roaming") if kind == "config" else ("LOCALAPPDATA", "Local")
    base = variables.get(variable) or ""
    if not is_absolute(base, windows=True):
        base = ntpath.join(user_home, "AppData", usual)
    return ntpath.join(base, "cortex", *(() if kind == "config" else (kind,)))
