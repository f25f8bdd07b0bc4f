"""`cortex trust`: the settings and the files of a project that need the user's consent."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from cortex.front.cli.parsing.parser import Parser
from cortex.front.cli.setup.hooks import ask_consent
from cortex.generation.contract import project_files, say_waiting
from cortex.settings.config import TRUST_ALL
from cortex.settings.consent import chunk_consent
from cortex.settings.consent import trust as consent
from cortex.settings.consent.chunk_consent import consent_of
from cortex.settings.consent.trust import ProjectFile
from cortex.settings.folders.home import find_root, project_config
from cortex.settings.folders.subfolder import enclosing_project
from cortex.settings.layers import read_project
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured

#: files that are named; the others are a number
NAMED_MAX = 20
#: the variable that trusts the files of other programs without a terminal
VARIABLE = "CORTEX_TRUST_CHUNKS"


def declare(parser: Parser) -> None:
    parser.add_flag(
        "--yes",
        help=f"consent without a question; to files of other programs in a terminal, or with {VARIABLE}=1",
    )
    parser.add_flag("--show", help="show what needs consent, and end")
    parser.add_flag("--revoke", help="withdraw the consent")


def trust(options: Namespace) -> int:
    """Show settings and files, and ask; EXIT_NOTHING after a refusal. Raises Misconfigured."""
    root, _ = enclosing_project(find_root(options.project)[0])
    if options.revoke:
        revoked = [consent.revoke(root), chunk_consent.revoke_chunk_consent(root)]
        outcome = (
            "is withdrawn; `cortex down` stops workers that use it" if any(revoked) else "was never given"
        )
        print(f"The consent for {root} {outcome}.")
        return EXIT_OK
    codes = [_trust_settings(root, options), _trust_files(root, options)]
    return max(codes)


def _trust_settings(root: Path, options: Namespace) -> int:
    file = read_project(root)
    print("\n".join(describe(file)))
    if options.show or not file.consent_items or consent.has_consent(file):
        return EXIT_OK
    if not (options.yes or _agrees("Do you trust the author of these settings?")):
        print("Nothing is changed: these settings stay ignored.")
        return EXIT_NOTHING
    consent.give_consent(file)
    print(
        "The settings apply from the next start of the project's workers; `cortex down` stops running ones. "
        "A changed file needs consent again."
    )
    return EXIT_OK


def _trust_files(root: Path, options: Namespace) -> int:
    present = project_files(root)
    if not present:
        return EXIT_OK
    file_consent = consent_of(root, always=False)
    approved = file_consent.approved(present)
    tracked = file_consent.tracked(present)
    digests = {name: file_consent.digest(name, present[name]) for name in present}
    print("\n".join(describe_files(present, tracked, all_approved=len(approved) == len(present))))
    if options.show or len(approved) == len(present):
        return EXIT_OK
    if options.yes:
        if not (sys.stdin.isatty() or os.environ.get(VARIABLE, "").lower() in TRUST_ALL):
            waiting = say_waiting(present.keys() - set(approved))
            raise Misconfigured(
                f"{waiting} --yes alone does not count for them; set {VARIABLE}=1 in a script."
            )
    elif not _agrees("Do you trust the program that wrote these files?"):
        print("Nothing is changed: these files are not read.")
        return EXIT_NOTHING
    chunk_consent.give_chunk_consent(root, digests)
    print("The files are read from now on; workers in a sandbox read them after `cortex down`.")
    return EXIT_OK


def describe_files(
    present: Mapping[str, os.stat_result], tracked: frozenset[str], *, all_approved: bool
) -> list[str]:
    """Return lines on the files of other programs, their names in ASCII."""
    state = "that you agreed to" if all_approved else "that need your consent, and are not read without it"
    lines = [f"Files of another program {state}:"]
    for name, info in list(present.items())[:NAMED_MAX]:
        by_git = ", tracked by git: a change needs consent again" if name in tracked else ""
        lines.append(f"  {ascii(name)[1:-1]} ({info.st_size} bytes{by_git})")
    if len(present) > NAMED_MAX:
        lines.append(f"  and {len(present) - NAMED_MAX} more")
    if any(name not in tracked for name in present):
        lines.append("      Consent counts for later files in these folders too, unless git tracks them.")
    return lines


def describe(file: ProjectFile) -> list[str]:
    """Return lines with each setting, its value in ASCII (safe for a terminal), and its effect."""
    place = ascii(str(project_config(file.root)))[1:-1]
    if not file.consent_items:
        return [f"Nothing in {place} needs your consent."]
    consent_state = (
        "you agreed to" if consent.has_consent(file) else "need your consent, and are ignored without it"
    )
    lines = [f"{place} (SHA-256 {file.digest}) has settings that {consent_state}:"]
    for setting in file.consent_items:
        lines += [f"  {setting.name}: {setting.value!a}", f"      {setting.effect}"]
    return lines


def _agrees(question: str) -> bool:
    """Ask a person. Raises Misconfigured without a terminal."""
    if not sys.stdin.isatty():
        raise Misconfigured(
            "`cortex trust` asks a person, and there is no terminal; run it in one. For "
            f"settings, --yes counts as well; for files of other programs, {VARIABLE}=1."
        )
    return ask_consent(question)
