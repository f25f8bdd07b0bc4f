"""`cortex index --to ENGINE`: publishes the project's index for other machines to serve."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from typing import Any

from cortex.front.cli.rendering import render
from cortex.front.cli.running import subfolders
from cortex.settings import config as configuration
from cortex.system.errors import EXIT_OK, Misconfigured
from cortex.system.terminal import print_text

#: options of `cortex index` that `--to` excludes
_REFUSED_OPTIONS = ("watch", "no_wait", "chunks_dir", "encrypt", "decrypt", "dependencies")


def index(options: Namespace) -> int:
    """Index the project, publish it. Raises Occupied while another indexer runs, CortexError."""
    strange = [name for name in _REFUSED_OPTIONS if getattr(options, name)]
    if strange:
        raise Misconfigured(f"--{strange[0].replace('_', '-')} and --to do not go together: leave one out.")
    flags: dict[str, dict[str, Any]] = {"engines": {"text": options.to, "vector": options.to}}
    if options.single_writer:
        flags[options.to] = {"single_writer": True}
    path = options.project or options.path
    subfolders.apply_own_index(options, path)
    config = dataclasses.replace(configuration.load(path, flags), writes=True)
    if config.store is None:
        raise Misconfigured(f"--to {options.to} names no engine that shares an index; leave it out.")
    if config.sandbox:
        raise Misconfigured(
            f"A sandbox has no network: index --to {options.to} outside, or switch security.sandbox off."
        )
    subfolders.say_shared_index(config)
    from cortex.indexer.run import index as run_index

    with config.store.writing(config) as publish:
        with render.Progress() as progress:
            report = run_index(config, force=options.force, on_progress=progress)
        render.print_report(report, verbose=options.verbose)
        generation = publish()
    print_text(
        f"published to {config.store.address(config)} as generation {generation.number}: {generation.rows} chunks"
    )
    return EXIT_OK
