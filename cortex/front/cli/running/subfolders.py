"""Messages and options for a folder that is served from the index of a project around it."""

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from cortex.front.cli.parsing.parser import Parser
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.folders.home import find_root
from cortex.settings.folders.projects import resolve_project
from cortex.settings.folders.subfolder import keep_own
from cortex.system.errors import Misconfigured
from cortex.system.terminal import print_text


def declare(parser: Parser) -> None:
    """Declare --own-index, for commands that may build an index."""
    parser.add_flag(
        "--own-index", help="give a folder of an indexed project an index of its own, and keep it"
    )


def apply_own_index(options: Namespace, project: str | Path | None) -> None:
    """Give the project its own index if the option is set. Raises Misconfigured."""
    if options.own_index:
        keep_own(find_root(resolve_project(project))[0])


def refuse_subfolder(config: Config) -> None:
    """Raise Misconfigured for a subfolder: the command works on a whole project."""
    if config.subfolder:
        raise Misconfigured(f"{_describe(config)} Name {config.root}, or add --own-index.")


def say_shared_index(config: Config) -> None:
    """Print the project whose index serves a subfolder."""
    if config.subfolder:
        print_text(f"cortex: {_describe(config)} --own-index makes one of its own.", file=sys.stderr)


def load_whole_project(folder: str | None) -> Config:
    """Return the configuration of the project around `folder`; print that all of it is served."""
    config = configuration.load(folder)
    if config.subfolder:
        print_text(f"cortex: {_describe(config)} All of that is served.", file=sys.stderr)
    return replace(config, subfolder="")


def _describe(config: Config) -> str:
    return f"{config.folder} is a part of {config.root} and has its index."
