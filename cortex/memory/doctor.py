"""Check of the tables against each other and the indexes, and repair of all that can be rebuilt."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

from cortex.memory.find.recall import Memory
from cortex.memory.store.copies import back_ups
from cortex.system import files
from cortex.system.folders.mounts import FOREIGN, file_system

Finding = dict[str, Any]


def examine(memory: Memory, folder: Path, *, mend: bool) -> Generator[None, None, dict[str, Any]]:
    """Return {"healthy": no fault is left, "findings": [{"what", "found", "mended"}], "notes",
    "edges", "back_ups"}. A generator in slices: other requests may be answered between them.
    """
    findings: list[Finding] = [
        {"what": "database", "found": fault, "mended": False} for fault in memory.store.database.check()
    ]
    yield
    if wrong := memory.store.count_wrong_keys(mend=mend):
        findings.append({"what": "database", "found": f"{wrong} notes with a wrong key", "mended": mend})
    yield
    memory.follow()
    live = memory.store.numbers()
    for index, difference in memory.differences(live).items():
        if not difference:
            continue
        if mend:
            yield from memory.rebuild(index)
        mended = mend and not memory.differences(memory.store.numbers())[index]
        findings.append({"what": index, "found": difference, "mended": mended})
        yield
    findings += _folder_findings(folder)
    return {
        "healthy": all(finding["mended"] for finding in findings),
        "findings": findings,
        "notes": len(live),
        "edges": len(memory.links),
        "back_ups": back_ups(folder),
    }


def warn_of_network_folder(folder: Path) -> str:
    """A sentence when the data folder is on a file system with unreliable locks, "" otherwise."""
    kind = file_system(folder)
    if kind not in FOREIGN:
        return ""
    return (
        f"The memory's folder {folder} is on a network file system ({kind}), where locks and synced writes cannot "
        "be relied on; set memory.data_dir to a folder of this machine's own disk."
    )


def _folder_findings(folder: Path) -> list[Finding]:
    findings: list[Finding] = [
        {"what": "mode", "found": f"{path} was open to others", "mended": True}
        for path in files.close_to_others(folder)
    ]
    if warning := warn_of_network_folder(folder):
        findings.append({"what": "place", "found": warning, "mended": False})
    return findings
