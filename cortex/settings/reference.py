"""Settings that name an environment variable in place of a secret."""

import os

from cortex.system.errors import Misconfigured


def read_reference(reference: str, setting: str) -> str:
    """Return `reference`, or the value of `$NAME`. Raises Misconfigured if unset or empty."""
    if not reference.startswith("$"):
        return reference
    if secret := os.environ.get(reference[1:].strip("{}")):
        return secret
    raise Misconfigured(f"{setting} is {reference}, and the environment has no such variable: set it.")
