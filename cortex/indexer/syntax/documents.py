"""The text of PDF and office files, with the libraries of the extra `documents`.

Such a file may be crafted to crash, fill or block its reader, so each is read by a process of its
own with bounds on memory and time: a bad file costs only its own text.
"""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from cortex.system.installation import how_to_add, is_installed

#: suffix → module of its library
LIBRARIES = {".pdf": "pypdf", ".docx": "docx", ".pptx": "pptx", ".xlsx": "openpyxl"}
#: the reason for leaving out a file whose library is missing
MISSING = f"needs the extra `documents`: {how_to_add('documents')}"

#: pages to read of a PDF, characters to return of a file
PAGES_MAX, CHARS_MAX = 1_000, 2_000_000
#: time in seconds, and memory in bytes, for one file
READ_S, MEMORY_BYTES = 20.0, 1 << 30


def suffix_of(path: str) -> str:
    """Return the suffix of a file that can be read here, "" for every other."""
    suffix = os.path.splitext(path)[1].lower()
    return suffix if suffix in LIBRARIES else ""


def is_readable(suffix: str) -> bool:
    """Return whether the library for it is installed."""
    return is_installed(LIBRARIES[suffix])


def read_document(path: str, raw: bytes) -> tuple[str, str]:
    """Return (text, ""), or ("", the reason why there is none, a short phrase)."""
    suffix = suffix_of(path)
    if not is_readable(suffix):
        return "", MISSING
    command = [sys.executable, "-P", "-m", __name__, suffix]
    try:
        done = subprocess.run(
            command, input=raw, capture_output=True, timeout=READ_S, check=False, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        return "", f"unreadable document: not read within {READ_S:g} s"
    except OSError as error:
        return "", f"unreadable document: {error.strerror}"
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        return "", f"unreadable document: {last or f'its reader ended with {done.returncode}'}"
    return done.stdout.decode("utf-8", "replace"), ""


def _pages(raw: bytes) -> Iterator[str]:
    """Yield the text of each page below a line with its number."""
    from pypdf import PdfReader

    for number, page in enumerate(PdfReader(io.BytesIO(raw)).pages, 1):
        if number > PAGES_MAX:
            return
        yield f"[page {number}]\n{page.extract_text()}\n"


def _paragraphs(raw: bytes) -> Iterator[str]:
    """Yield headings with as many # as their level, paragraphs, and the rows of tables."""
    import docx

    document = docx.Document(io.BytesIO(raw))
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield "\n".join(" | ".join(cell.text for cell in row.cells) for row in block.rows) + "\n"
            continue
        style = block.style.name if block.style is not None else ""
        level = style.removeprefix("Heading ") if style.startswith("Heading ") else ""
        yield f"{'#' * int(level)} {block.text}\n" if level.isdigit() else f"{block.text}\n"


def _slides(raw: bytes) -> Iterator[str]:
    """Yield the text, tables and notes of each slide below a line with its number."""
    import pptx

    for number, slide in enumerate(pptx.Presentation(io.BytesIO(raw)).slides, 1):
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        texts = [*_shapes(slide.shapes), *([notes.text] if notes is not None else ())]
        yield "\n".join((f"[slide {number}]", *filter(None, texts))) + "\n"


def _shapes(shapes: Any) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield from (" | ".join(cell.text for cell in row.cells) for row in shape.table.rows)


def _sheets(raw: bytes) -> Iterator[str]:
    """Yield the rows of each sheet below a line with its name; for a formula its last value."""
    import openpyxl

    for sheet in openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True).worksheets:
        sheet.reset_dimensions()  # the declared size may be a million empty columns
        yield f"[sheet {sheet.title}]\n"
        for row in sheet.iter_rows(values_only=True):
            if line := " | ".join("" if cell is None else str(cell) for cell in row).rstrip(" |"):
                yield f"{line}\n"


#: suffix → its reader, which yields text
READERS = {".pdf": _pages, ".docx": _paragraphs, ".pptx": _slides, ".xlsx": _sheets}


def _main(suffix: str) -> int:
    """Read a file from standard input, within bounds, and write its text to standard output."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (int(READ_S), int(READ_S)))
    except (ImportError, ValueError, OSError):  # a system without limits: the parent bounds the time anyway
        pass
    raw, left = sys.stdin.buffer.read(), CHARS_MAX
    for text in READERS[suffix](raw):
        sys.stdout.buffer.write(text[:left].encode("utf-8", "replace"))
        left -= len(text)
        if left <= 0:
            break
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
