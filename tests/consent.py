"""A person's consent to the files of other programs in a project, for tests that serve them."""

from __future__ import annotations

from pathlib import Path

from cortex.generation.contract import project_files
from cortex.settings.consent.chunk_consent import consent_of, give_chunk_consent


def trust_files(root: Path) -> None:
    """Consent to the files in the project as they are now, as `cortex trust` does."""
    file_consent, present = consent_of(root, always=False), project_files(root)
    give_chunk_consent(root, {name: file_consent.digest(name, info) for name, info in present.items()})
