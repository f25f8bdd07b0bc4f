"""The layers of a configuration: the user's file, the project's file, the environment and flags;
checked, and merged into the settings of each section.
"""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from cortex.sealing.places import FILE_VARIABLE, VARIABLE
from cortex.settings.config_files import parse_settings, read_raw, read_settings
from cortex.settings.consent.trust import Layer, ProjectFile, find_consent_items
from cortex.settings.folders.home import (
    EMBED_TOKEN,
    IN_SET,
    PROJECT_FOLDER,
    REALLY,
    SSE_PORT,
    TOKEN,
    project_config,
    user_config,
)
from cortex.settings.plug import LOCAL, Plug, has_plug, load_plug
from cortex.settings.table import MEMORY_EMBEDDING, SECTIONS, rules
from cortex.system.errors import Misconfigured
from cortex.terms.text.suggestions import hint_for

#: environment variables with short names, besides the CORTEX_<SECTION>_<FIELD> forms
ALIASES = {
    "CORTEX_CHUNKS_DIR": ("server", "chunks_dir"),
    "CORTEX_EMBEDDING_ENDPOINT": ("embedding", "endpoint"),
    "CORTEX_TRUST_CHUNKS": ("server", "trust_chunks"),
}

#: field of `embedding` → the provider that it implies
IMPLIED = {"endpoint": "http", "model_path": "onnx"}

#: names of settings, or of sections, that other context engines have → the place of such a setting
MOVED = {
    "index_root": "the folder of indexes is CORTEX_HOME in the environment",
    "repo_globs": "further projects are in projects.yml beside the user's config.yml (docs/PROJECTS.md)",
    "languages": "languages are chosen by indexing.languages",
    "watcher.debounce_ms": (
        "the quiet time is indexing.debounce_ms for sources, and server.debounce_ms for chunk files"
    ),
    "embedding.base_url": "the server's address is embedding.endpoint",
    "chunks_dir": "the folder of chunk files is server.chunks_dir",
}

#: environment variables that are no settings
OWN_VARIABLES = {
    "CORTEX_HOME", "CORTEX_PAGER", "CORTEX_PROJECT", EMBED_TOKEN, FILE_VARIABLE, IN_SET, REALLY,
    SSE_PORT, TOKEN, VARIABLE,
}  # fmt: skip


def _imply_provider(section: str, embedding: dict[str, Any]) -> None:
    """Set the provider that a configured server or model implies, if none is set."""
    implied = [provider for key, provider in IMPLIED.items() if embedding.get(key)]
    if "provider" in embedding or not implied:
        return
    if len(implied) > 1:
        raise Misconfigured(
            f"{section}.endpoint and {section}.model_path are both set; say which of them by {section}.provider: http "
            "or onnx."
        )
    embedding["provider"] = implied[0]


def person_layers(flags: Layer | None) -> list[tuple[str, Layer]]:
    """Return (source, layer) of what a person sets, later ones win. Raises Misconfigured."""
    return [
        (str(user_config()), _read_user()),
        ("the environment", from_environment(os.environ, SECTIONS)),
        ("the command line", flags or {}),
    ]


def find_plug(*layers: tuple[str, Layer]) -> Plug | None:
    """Return the plug that the person's `layers` choose, None for ours. Raises Misconfigured."""
    chosen = [(source, {"engines": layer["engines"]}) for source, layer in layers if "engines" in layer]
    if not chosen:
        return None
    engines = merge_layers(*chosen)["engines"]
    names = sorted({engines.text, engines.vector} - {LOCAL})
    plug = load_plug(names[0]) if names else None
    if len(names) > 1 or (plug and plug.store and engines.text != engines.vector):
        raise Misconfigured(
            f"engines.text is {engines.text} and engines.vector {engines.vector}: one generation is "
            f"kept in one place; set both to {names[0]}, or both to {LOCAL}."
        )
    return plug


def merge_layers(*layers: tuple[str, Layer], plug: Plug | None = None) -> dict[str, Any]:
    """Return the sections of all layers (source, layer); later ones win. Raises Misconfigured."""
    table = SECTIONS | ({plug.name: plug.section} if plug and plug.section else {})
    values: dict[str, dict[str, Any]] = {name: {} for name in table}
    for source, layer in layers:
        _check(layer, source, table)
        for section, fields in layer.items():
            values.setdefault(section, {}).update(fields)
    for section in ("embedding", MEMORY_EMBEDDING):
        _imply_provider(section, values[section])
    return {name: build(name, kind, values[name], "the configuration") for name, kind in table.items()}


def _read_user() -> dict[str, Any]:
    """Read the user's own file, which may be a link."""
    path = user_config()
    return _sections(path, read_settings(Path(os.path.realpath(path))))


def read_project(root: Path) -> ProjectFile:
    """Read the project's own file, never through a link: it comes with a clone.

    Raises Misconfigured with one sentence if it cannot be read or understood.
    """
    path = project_config(root)
    raw = _read_plain(path, root)
    layer = _sections(path, parse_settings(path, raw))
    return ProjectFile(root, raw, layer, find_consent_items(layer, _check(layer, str(path), SECTIONS)))


def _read_plain(path: Path, root: Path) -> bytes:
    if (root / PROJECT_FOLDER).is_symlink():
        return b""  # opening the project refuses the link
    if path.is_symlink():
        raise Misconfigured(f"{path} must be a plain file, not a link; put a copy in its place.")
    return read_raw(path)


def _sections(path: Path, data: Any) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise Misconfigured(
            f"{path} must hold sections ({', '.join(SECTIONS)}), not a {type(data).__name__}."
        )
    memory = data.get("memory")
    if isinstance(memory, dict) and "embedding" in memory:
        others = {key: value for key, value in memory.items() if key != "embedding"}
        data = data | {"memory": others, MEMORY_EMBEDDING: memory["embedding"]}
    return {name: _with_off(name, fields) for name, fields in data.items()}


def _with_off(section: str, fields: Any) -> Any:
    """Return the settings with a bare `off`, YAML's `false`, as the word where that is a value."""
    if section not in SECTIONS or not isinstance(fields, dict):
        return fields
    hints = get_type_hints(SECTIONS[section])
    return {
        key: "off" if value is False and "off" in get_args(hints.get(key)) else value
        for key, value in fields.items()
    }


def _check(layer: Layer, source: str, table: Mapping[str, type]) -> dict[str, Any]:
    """Return the sections of `layer` as typed objects. That of an engine which is installed and not
    in use is left out.

    Raises Misconfigured for an unknown section or setting, or an invalid value.
    """
    built = {}
    for section, fields in layer.items():
        is_known = section in table
        if not is_known and (place := _moved_place(section, fields)):
            raise Misconfigured(f"{section!r} in {source} is no section: {place}.")
        if not is_known and not has_plug(str(section)):
            raise Misconfigured(
                f"Unknown section {section!r} in {source}{hint_for(str(section), SECTIONS, 0.0)}."
            )
        if not isinstance(fields, dict):
            raise Misconfigured(
                f"Section {section!r} in {source} must hold settings, not a {type(fields).__name__}."
            )
        if not is_known:
            continue
        setting_names = [f.name for f in dataclasses.fields(table[section])]
        for key in fields:
            moved = MOVED.get(f"{section}.{key}") or MOVED.get(str(key))
            if key not in setting_names and moved:
                raise Misconfigured(f"{section}.{key} in {source} is no setting: {moved}.")
            if key not in setting_names:
                raise Misconfigured(
                    f"Unknown setting {section}.{key} in {source}{hint_for(str(key), setting_names, 0.0)}."
                )
        built[section] = build(section, table[section], fields, source)
        for name, rule in rules(section).items():
            value = getattr(built[section], name)
            if isinstance(value, int | float) and not rule.low <= value <= rule.high:
                raise Misconfigured(
                    f"{section}.{name} is {value} in {source}; it must be between {rule.low} and {rule.high}."
                )
    return built


def _moved_place(section: str, fields: Any) -> str:
    """Return the place of the settings in an unknown section; "" if they have none."""
    names = [section, *(f"{section}.{key}" for key in (fields if isinstance(fields, dict) else ()))]
    return next((MOVED[name] for name in names if name in MOVED), "")


def from_environment(environ: Mapping[str, str], table: Mapping[str, type]) -> dict[str, dict[str, Any]]:
    """Return the layer of the variables in `environ`. Raises Misconfigured for unknown ones."""
    twins = {
        f"CORTEX_{section.replace('.', '_')}_{f.name}".upper(): (section, f.name)
        for section, cls in table.items()
        for f in dataclasses.fields(cls)
    }
    layer: dict[str, dict[str, Any]] = {}
    for name, value in environ.items():
        if not name.startswith("CORTEX_") or name in OWN_VARIABLES or not value:
            continue
        target = ALIASES.get(name) or twins.get(name)
        if target is None:
            if name.startswith(tuple(f"CORTEX_{s.upper()}_" for s in table)):
                raise Misconfigured(f"Unknown setting {name} in the environment{hint_for(name, twins, 0.0)}.")
            continue
        section, key = target
        layer.setdefault(section, {})[key] = _parse(value, get_type_hints(table[section])[key])
    return layer


def _parse(text: str, kind: Any) -> Any:
    if kind is bool:
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.lower(), text
        )
    if kind == tuple[str, ...]:
        return [element.strip() for element in text.split(",") if element.strip()]
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def build(section: str, kind: type, values: Mapping[str, Any], source: str) -> Any:
    """Return the section `values` as a `kind`. Raises Misconfigured, naming the source."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise Misconfigured(f"Wrong value in section {section!r} of {source}: {error}.") from error
