"""Limits of a project's own file: it comes with a clone, so settings that are not harmless count
only after the user's consent, which is stored by the project's path and the file's content.

table.py marks the harmless values of each setting.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex.settings.folders.home import cache_base, project_config, user_config
from cortex.settings.table import rules
from cortex.system import files
from cortex.system.errors import Misconfigured

#: largest note of consent, in bytes; ours are a path and a hash
NOTE_BYTES_MAX = 16_384

#: sections whose settings belong together: one server's vector size is wrong for another model
TOGETHER = ("embedding",)

#: section → field → value, as in a file
Layer = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ConsentItem:
    """A setting of a project's file that needs consent, and its effect."""

    name: str
    value: Any
    effect: str


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The configuration in a project: its bytes, its settings, and those that need consent."""

    root: Path
    raw: bytes
    layer: Layer
    consent_items: tuple[ConsentItem, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()

    def trusted_layer(self) -> tuple[Layer, tuple[str, ...]]:
        """Return (the settings that count, the names of the ignored ones).

        Raises Misconfigured if an approved folder leads out of the project.
        """
        names = (f"{section}.{key}" for section, fields in self.layer.items() for key in fields)
        gone = set(filter(is_personal, names))
        if self.consent_items and not has_consent(self):
            gone |= {item.name for item in self.consent_items}
        else:
            check_inside(self.layer, self.root)
        layer, lost = _remove_settings(self.layer, gone) if gone else (self.layer, ())
        return layer, tuple(name for name in lost if not self.says(name))

    def says(self, name: str) -> bool:
        """Whether the file sets a personal setting to a value that a project may set for itself.
        Code that reads for this project alone asks here; the setting itself stays the person's.
        """
        section, _, key = name.rpartition(".")
        fields = self.layer.get(section, {})
        return key in fields and rules(section)[key].of_project(fields[key])


def find_consent_items(layer: Layer, built: Mapping[str, Any]) -> tuple[ConsentItem, ...]:
    """Return the settings of `layer` that need consent; `built`: its sections as objects."""
    return tuple(
        ConsentItem(f"{section}.{key}", value, rule.effect)
        for section, fields in layer.items()
        if section in built  # all settings of another package's engine are personal
        for key, value in ((key, getattr(built[section], key)) for key in fields)
        if not (rule := rules(section)[key]).harmless(value) and not rule.personal
    )


def is_personal(name: str) -> bool:
    """Whether `section.setting` belongs to the person: no project sets it, even with consent."""
    section, _, key = name.rpartition(".")
    return rules(section)[key].personal


def _remove_settings(layer: Layer, removed_names: AbstractSet[str]) -> tuple[Layer, tuple[str, ...]]:
    """Return `layer` without the settings `removed_names`, and the names that were removed."""
    remaining: dict[str, dict[str, Any]] = {}
    lost = []
    for section, fields in layer.items():
        names = {f"{section}.{key}": key for key in fields}
        gone = names.keys() & removed_names
        if gone and section in TOGETHER:
            gone = set(names)
        remaining[section] = {key: fields[key] for name, key in names.items() if name not in gone}
        lost += [name for name in names if name in gone]
    return remaining, tuple(lost)


def has_consent(file: ProjectFile) -> bool:
    """Whether the user agreed to exactly this file in this place. A note that is another user's, or
    behind a link, does not count.
    """
    try:
        note = json.loads(files.read_ours(note_of(file.root), NOTE_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return False
    return bool(note == _content(file))


def give_consent(file: ProjectFile) -> None:
    """Store the user's consent to this file. Raises Misconfigured if it cannot be written."""
    write_note(note_of(file.root), json.dumps(_content(file)).encode())


def write_note(note: Path, raw: bytes) -> None:
    """Write a stored consent. Raises Misconfigured if it cannot be written."""
    try:
        files.make_private(note.parent)
        files.replace(note, raw, sync=True)
    except OSError as error:
        raise Misconfigured(f"Cannot write {note}: {error.strerror or error}; make it writable.") from error


def revoke(root: Path) -> bool:
    """Remove the consent for the project in `root`; False if there was none."""
    return remove_note(note_of(root))


def remove_note(note: Path) -> bool:
    """Remove a stored consent; False if there was none. Raises Misconfigured."""
    existed = os.path.lexists(note)
    try:
        files.remove(note)
    except OSError as error:
        raise Misconfigured(f"Cannot remove {note}: {error.strerror or error}; remove it by hand.") from error
    return existed


def note_of(root: Path) -> Path:
    """Return the path of the stored consent for the project in `root`."""
    return cache_base() / "trust" / f"{hashlib.sha256(os.fsencode(root)).hexdigest()}.json"


def _content(file: ProjectFile) -> dict[str, str]:
    return {"root": os.fsdecode(file.root), "sha256": file.digest}


def check_inside(layer: Layer, root: Path) -> None:
    """Raise Misconfigured if `server.chunks_dir` of a project's file leads out of the project: a
    link may get another target after the consent.
    """
    chunks = layer.get("server", {}).get("chunks_dir")
    if chunks and not (root / str(chunks)).resolve().is_relative_to(root):
        raise Misconfigured(
            f"{project_config(root)} sets server.chunks_dir to {chunks!r}, which is outside the project; set "
            f"CORTEX_CHUNKS_DIR or {user_config()} if you want it."
        )


def say_ignored(root: Path, names: tuple[str, ...]) -> str:
    """Return a message about ignored settings; "" for none."""
    personal = [name for name in names if is_personal(name)]
    sentences = []
    if personal:
        sentences.append(
            f"{', '.join(personal)} in {project_config(root)} {'is' if len(personal) == 1 else 'are'} ignored: settings "
            f"for all projects belong in {user_config()}, the environment or flags."
        )
    if unapproved := [name for name in names if name not in personal]:
        sentences.append(_say_unapproved(root, unapproved))
    return " ".join(sentences)


def _say_unapproved(root: Path, names: Sequence[str]) -> str:
    is_single = len(names) == 1
    return (
        f"{', '.join(names)} in {project_config(root)} {'is' if is_single else 'are'} ignored: they come with "
        f"the project, and its user has not agreed to {'it' if is_single else 'them'}. `cortex trust` shows "
        "them to a person and asks."
    )
