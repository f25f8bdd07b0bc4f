"""PDF and office files: their text is indexed where the extra is installed, and an unreadable one
costs only itself.
"""

import asyncio
import io
import zipfile
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
    """Return a PDF with a line of text on each page."""
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
    return saved(document)


def slides():
    pptx = pytest.importorskip("pptx")
    presentation, inch = pptx.Presentation(), pptx.util.Inches(1)
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Fees"
    slide.shapes.add_group_shape().shapes.add_textbox(inch, inch, inch, inch).text_frame.text = "Late payers"
    table = slide.shapes.add_table(1, 2, inch, inch, inch, inch).table
    table.cell(0, 0).text, table.cell(0, 1).text = "week", "three euros"
    slide.notes_slide.notes_text_frame.text = "Smile."
    presentation.slides.add_slide(presentation.slide_layouts[6])
    return saved(presentation)


def sheets():
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.active.title = "Fees"
    workbook.active.append(["week", None, 3])
    workbook.active.append([])
    workbook.active.append(["month", "=1+1"])
    workbook.create_sheet("Empty")
    return saved(workbook)


def saved(document):
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def with_part(raw, name, old, new):
    """Return an office file with a replacement in one of its parts."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(raw)) as source,
        zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in source.namelist():
            content = source.read(member)
            assert member != name or old in content
            target.writestr(member, content.replace(old, new) if member == name else content)
    return changed.getvalue()


def test_slides_are_their_text_tables_and_notes_below_their_numbers():
    source = decode("talk.pptx", slides())
    assert isinstance(source, Source)
    lines = ("[slide 1]", "Fees", "Late payers", "week | three euros", "Smile.", "[slide 2]")
    assert source.lines == lines


def test_sheets_are_their_rows_below_their_names():
    source = decode("fees.xlsx", sheets())
    assert isinstance(source, Source)
    assert source.lines == ("[sheet Fees]", "week |  | 3", "month", "[sheet Empty]")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("bad.docx", b"PK\3\4 no archive"),
        ("bad.pptx", lambda: slides()[:-30]),
        ("bad.xlsx", lambda: sheets()[:-30]),
        ("bad.pptx", lambda: with_part(slides(), "ppt/slides/slide1.xml", b"</p:sld>", b"")),
        ("bad.xlsx", lambda: with_part(sheets(), "xl/workbook.xml", b"</workbook>", b"")),
    ],
    ids=["no archive", "cut slides", "cut sheets", "open slide", "open book"],
)
def test_an_office_file_that_is_damaged_is_left_out(name, raw):
    assert decode(name, raw if isinstance(raw, bytes) else raw()).startswith("unreadable document")


def test_a_sheet_that_claims_a_million_columns_is_read_by_those_it_has():
    raw = with_part(sheets(), "xl/worksheets/sheet1.xml", b'ref="A1:C3"', b'ref="A1:XFD1048576"')
    source = decode("wide.xlsx", raw)
    assert isinstance(source, Source)
    assert source.lines[:3] == ("[sheet Fees]", "week |  | 3", "month")


def test_the_text_of_a_pdf_stands_below_the_numbers_of_its_pages():
    pytest.importorskip("pypdf")
    source = decode("a/manual.PDF", pdf("Turn the valve.", "Close the lid."))
    assert isinstance(source, Source)
    assert source.lines == ("[page 1]", "Turn the valve.", "[page 2]", "Close the lid.")


def test_headings_paragraphs_and_tables_of_a_word_file_are_its_lines():
    source = decode("fees.docx", word())
    assert isinstance(source, Source)
    assert source.lines == ("## Fees", "Late payers are charged a fee.", "week | three euros")


def test_office_files_and_pdfs_are_found_like_any_document(tmp_path, serve):
    pytest.importorskip("pypdf")
    (tmp_path / "manual.pdf").write_bytes(pdf("Turn the valve to the left.", "Close the lid."))
    (tmp_path / "fees.docx").write_bytes(word())
    (tmp_path / "talk.pptx").write_bytes(slides())
    (tmp_path / "table.xlsx").write_bytes(sheets())
    served = serve(tmp_path)
    tool = TOOLS["cortex_exact"]
    expected = (
        ("valve", "manual.pdf", 2),
        ("charged", "fees.docx", 2),
        ("Smile", "talk.pptx", 5),
        ("month", "table.xlsx", 3),
    )
    for query, path, line in expected:
        answer = asyncio.run(tool.call(served.context(), tool.check({"query": query})))
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
def test_a_damaged_or_hostile_document_costs_only_itself(tmp_path, raw):
    pytest.importorskip("pypdf")
    (tmp_path / "bad.pdf").write_bytes(raw)
    (tmp_path / "good.py").write_text("GOOD = 1\n")
    report = index(Config(root=tmp_path))
    assert report.files >= 1
    assert all(skip.path == "bad.pdf" for skip in report.skipped)
    assert all("unreadable document" in skip.reason for skip in report.skipped)


def test_a_file_that_takes_too_long_is_given_up(monkeypatch):
    pytest.importorskip("pypdf")
    monkeypatch.setattr(documents, "READ_S", 0.001)
    assert decode("a.pdf", pdf("x")) == "unreadable document: not read within 0.001 s"


def test_without_the_library_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "is_readable", lambda _suffix: False)
    (tmp_path / "manual.pdf").write_bytes(pdf("x"))
    scan = Scanner(Config(root=tmp_path)).walk()
    assert scan.files == {}
    reason = scan.skipped[0].reason
    assert "pip install " in reason
    assert "[documents]'" in reason
    assert decode("manual.pdf", pdf("x")) == documents.MISSING
