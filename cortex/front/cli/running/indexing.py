"""`cortex index`: a run of the indexer, here or in a sandbox, the indexer that watches, and the
index that is published for other machines to serve (`--to ENGINE`).
"""

import dataclasses
import sys
import threading
from argparse import Namespace
from typing import Any

from cortex.front.cli.rendering import render
from cortex.front.cli.running import cloning, subfolders
from cortex.front.cli.setup import key
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.unused import say_unused
from cortex.system.errors import ANEW, EXIT_OK, Misconfigured
from cortex.system.terminal import print_text


def index(options: Namespace) -> int:
    if options.to:
        return publish_index(options)
    flags = {"server": {"chunks_dir": options.chunks_dir}} if options.chunks_dir else None
    path = options.project or options.path
    path = cloning.fetch(path) if cloning.is_address(path) else path
    subfolders.apply_own_index(options, path)
    if options.encrypt or options.decrypt or options.chunks_dir:
        subfolders.refuse_subfolder(configuration.load(path))
    if options.encrypt:
        key.seal(path, flags or {})
    if options.decrypt:
        key.unseal(path)
    config = configuration.load(path, flags)
    subfolders.say_shared_index(config)
    if options.watch:
        return _watch(config)
    if config.sandbox:
        return _index_in_sandbox(config, options)
    if ignored := say_unused(config):
        print(f"cortex: {ignored}", file=sys.stderr)
    from cortex.indexer.run import index as run_index

    report, served = None, None
    waits = not (options.no_wait or options.chunks_dir)  # workers serve the configured folder only
    try:
        with render.Progress(serves=waits) as progress:
            report = run_index(config, force=options.force, on_progress=progress)
            if waits:
                served = _serve(config, progress)
    finally:
        if report is not None:  # the index is written, even if serving it fails or is interrupted
            render.print_report(report, verbose=options.verbose)
    if served is not None:
        print(f"all of it is served, as generation {served}" if served else "there is no text to be searched")
    return cloning.index_packages(config.root) if options.dependencies else EXIT_OK


def _serve(config: Config, progress: render.Progress) -> int:
    """Wait until the new index is served; return the generation's number."""
    from cortex.front.cli.running.serving import wait_served
    from cortex.indexer.store import manifest

    return wait_served(config, manifest.load, progress.serve).number


def _index_in_sandbox(config: Config, options: Namespace) -> int:
    """Index inside a sandbox, then wait until workers outside serve the result."""
    if options.dependencies:
        raise Misconfigured(
            "--dependencies reads packages outside any sandbox: leave it out, or switch security.sandbox off."
        )
    more = [f"--{name}" for name in ("force", "verbose") if getattr(options, name)]
    index_there = [sys.executable, "-P", "-m", "cortex", "index", "--no-wait", *more]
    code = attach.run_once(config, [*index_there, "--project", str(config.root)])
    if code or options.no_wait:
        return code
    with render.Progress(serves=True) as progress:
        served = _serve(config, progress)
    print(f"all of it is served, as generation {served}" if served else "there is no text to be searched")
    return EXIT_OK


def _watch(config: Config) -> int:
    import logging
    import signal

    from cortex.indexer.watch import watch
    from cortex.system import hosts
    from cortex.system.process import re_exec
    from cortex.system.terminal import log_to_stderr
    from ipc.lifeline import watch_life_line

    log_to_stderr("%(asctime)s indexer %(levelname)s %(message)s", logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):  # nohup covers SIGHUP
        signal.signal(number, lambda _number, _frame: stop.set())
    watch_life_line(stop.set)
    code = watch(config, stop, growth=re_exec.Growth())
    if code != ANEW:
        return code
    hosts.end_by_signals()  # a handler would no longer run
    return EXIT_OK if stop.is_set() else re_exec.begin()


#: options of `cortex index` that `--to` excludes
_REFUSED_OPTIONS = ("watch", "no_wait", "chunks_dir", "encrypt", "decrypt", "dependencies")


def publish_index(options: Namespace) -> int:
    """Index the project, publish it. Raises Occupied while another indexer runs, CortexError."""
    if strange := [name for name in _REFUSED_OPTIONS if getattr(options, name)]:
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
