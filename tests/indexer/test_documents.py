"""PDF and Word files: their text is indexed where the extra is installed, and one that cannot be
read costs nothing but itself.
"""

import asyncio
import io
import zlib

import orjson
import pytest

from cortex.front.tools import TOOLS
from cortex.indexer.run import index
from cortex.indexer.scan import Scanner
from cortex.indexer.syntax import documents
from cortex.indexer.syntax.source import Source, decode
from cortex.settings.config import Config


def pdf(*pages):
    """A PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for at, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * at} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    size = out.index("xref")
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{size}\n%%EOF\n"
    return out.encode("latin-1")


def word():
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("Fees", 2)
    document.add_paragraph("Late payers are charged a fee.")
    table = document.add_table(1, 2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "week", "three euros"
    held = io.BytesIO()
    document.save(held)
    return held.getvalue()


def test_the_text_of_a_pdf_stands_below_the_numbers_of_its_pages():
    pytest.importorskip("pypdf")
    source = decode("a/manual.PDF", pdf("Turn the valve.", "Close the lid."))
    assert isinstance(source, Source)
    assert source.lines == ("[page 1]", "Turn the valve.", "[page 2]", "Close the lid.")


def test_headings_paragraphs_and_tables_of_a_word_file_are_its_lines():
    source = decode("fees.docx", word())
    assert isinstance(source, Source)
    assert source.lines == ("## Fees", "Late payers are charged a fee.", "week | three euros")


def test_they_are_found_like_any_document(tmp_path, serve):
    pytest.importorskip("pypdf")
    (tmp_path / "manual.pdf").write_bytes(pdf("Turn the valve to the left.", "Close the lid."))
    (tmp_path / "fees.docx").write_bytes(word())
    served = serve(tmp_path)
    tool = TOOLS["cortex_exact"]
    for query, path, line in (("valve", "manual.pdf", 2), ("payers", "fees.docx", 2)):
        answer = asyncio.run(tool.call(served.asking(), tool.check({"query": query})))
        (result,) = orjson.loads(orjson.dumps(answer))["results"]
        assert result["chunk"]["metadata"]["file_path"] == path
        assert result["chunk"]["metadata"]["start_line"] <= line
        assert query in result["chunk"]["text"]


@pytest.mark.parametrize(
    "raw",
    [
        b"%PDF-1.4\n",
        b"no pdf at all",
        pdf("x")[:200],
        pdf("x").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"),
        b"%PDF-1.4\n" + zlib.compress(bytes(1 << 24)),
    ],
    ids=["empty", "another thing", "cut", "a tree that holds itself", "a bomb"],
)
def test_one_that_is_damaged_or_hostile_costs_only_itself(tmp_path, raw):
    pytest.importorskip("pypdf")
    (tmp_path / "bad.pdf").write_bytes(raw)
    (tmp_path / "good.py").write_text("GOOD = 1\n")
    report = index(Config(root=tmp_path))
    assert report.files >= 1
    assert all(one.path == "bad.pdf" for one in report.skipped)
    assert all("unreadable document" in one.reason for one in report.skipped)


def test_a_file_that_takes_too_long_is_given_up(monkeypatch):
    pytest.importorskip("pypdf")
    monkeypatch.setattr(documents, "READ_S", 0.001)
    assert decode("a.pdf", pdf("x")) == "unreadable document: not read within 0.001 s"


def test_without_the_library_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "is_readable", lambda _suffix: False)
    (tmp_path / "manual.pdf").write_bytes(pdf("x"))
    scan = Scanner(Config(root=tmp_path)).walk()
    assert scan.files == {}
    assert "pip install 'cortex-context-engine[documents]'" in scan.skipped[0].reason
    assert decode("manual.pdf", pdf("x")) == documents.MISSING
