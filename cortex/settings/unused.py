"""Settings without effect: in a file that is not read, of an embedder that is not in use, or with a
name of another program.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cortex.settings.consent.trust import say_ignored
from cortex.settings.folders.home import project_config, user_config
from cortex.settings.table import EMBEDDERS, UNUSED_BY

if TYPE_CHECKING:
    from cortex.settings.config import Config

#: names of files that people take for a configuration file, beside config.yml
_OTHER_NAMES = ("config.yaml", "config.json", "config.toml")


def say_unused(config: Config) -> str:
    """Return a sentence for each setting and file without effect; "" for none."""
    sentences = [
        say_ignored(config.root, config.ignored),
        *_unread_files(project_config(config.root)),
        *_unread_files(user_config()),
        _unused_by_embedder(config),
        *_moved_variables(),
    ]
    return " ".join(filter(None, sentences))


def _unread_files(read: Path) -> list[str]:
    advice = f"{read.name} beside it is read" if os.path.lexists(read) else f"name it {read.name}"
    return [
        f"{other} is ignored: {advice}."
        for name in _OTHER_NAMES
        if os.path.lexists(other := read.with_name(name))
    ]


def _unused_by_embedder(config: Config) -> str:
    """Return a sentence about settings of other embedders than the one in use."""
    embedding, default = config.embedding, type(config.embedding)()
    names = [
        f"embedding.{name} ({getattr(embedding, name)!r})"
        for name in UNUSED_BY.get(embedding.provider, ())
        if getattr(embedding, name) != getattr(default, name)
    ]
    if not names:
        return ""
    return (
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no effect: embedding.provider is "
        f"{embedding.provider}, {EMBEDDERS.get(embedding.provider, 'an embedder of its own')}. Set embedding.provider to http with "
        "embedding.endpoint for a server, or to onnx with embedding.model_path for a model in a folder."
    )


def _moved_variables() -> list[str]:
    """Return a sentence for each variable of the environment with the name of a moved setting."""
    from cortex.settings.layers import MOVED

    variables = {f"CORTEX_{name.replace('.', '_')}".upper(): place for name, place in MOVED.items()}
    return [f"{name} has no effect: {place}." for name, place in variables.items() if os.environ.get(name)]
