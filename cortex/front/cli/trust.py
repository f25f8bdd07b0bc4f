"""`cortex trust`: the project's settings that need the user's consent."""

from __future__ import annotations

import sys
from argparse import Namespace

from cortex.front.cli.parser import Parser
from cortex.settings import trust as consent
from cortex.settings.config import read_project
from cortex.settings.home import find_root, project_config
from cortex.settings.subfolder import enclosing_project
from cortex.settings.trust import ProjectFile
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured


def declare(parser: Parser) -> None:
    parser.add_argument("--yes", action="store_true", help="consent without a question, for scripts")
    parser.add_argument("--show", action="store_true", help="show the settings that need consent, and end")
    parser.add_argument("--revoke", action="store_true", help="withdraw the consent")


def trust(options: Namespace) -> int:
    """Show the settings and ask; return EXIT_NOTHING when a person refuses. Raises
    Misconfigured.
    """
    root, _ = enclosing_project(find_root(options.project)[0])
    if options.revoke:
        revoked = consent.revoke(root)
        outcome = "is withdrawn; `cortex down` stops workers that use it" if revoked else "was never given"
        print(f"The consent for {root} {outcome}.")
        return EXIT_OK
    file = read_project(root)
    print("\n".join(describe(file)))
    if options.show or not file.consent_items or consent.has_consent(file):
        return EXIT_OK
    if not (options.yes or _agrees()):
        print("Nothing is changed: these settings stay ignored.")
        return EXIT_NOTHING
    consent.give_consent(file)
    print(
        "The settings apply from the next start of the project's workers; `cortex down` stops running ones. "
        "A changed file needs consent again."
    )
    return EXIT_OK


def describe(file: ProjectFile) -> list[str]:
    """Return lines with each setting, its value in ASCII, which no terminal obeys, and its
    effect.
    """
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


def _agrees() -> bool:
    if not sys.stdin.isatty():
        raise Misconfigured(
            "`cortex trust` asks a person, and there is no terminal; run it in one, or add --yes if you have read "
            "the file."
        )
    try:
        answer = input("Do you trust the author of these settings? [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")
