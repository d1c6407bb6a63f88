"""Documents made from nothing, for the tests, the benchmarks and the pipelines' data.

The same arguments give the same bytes. Needs pillow for pictures and nothing else: what reads a format must
not be what wrote it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from random import Random
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw, ImageFilter, ImageFont

A4 = (595, 842)
Line = tuple[float, float, float, str]  # x, y, size in points, text

# -- PDF ------------------------------------------------------------------------------------------

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_NUMBER = bytes(range(16))


def text_lines(text: str, *, size: float = 10, left: float = 50, top: float = 790) -> list[Line]:
    """A text as lines of a page; wide gaps in a line start a new column at its place."""
    lines: list[Line] = []
    for row, line in enumerate(text.split("\n")):
        at = 0
        for part in line.split("   "):
            if part.strip():
                lead = len(part) - len(part.lstrip())
                lines.append((left + (at + lead) * size * 0.5, top - row * size * 1.4, size, part.strip()))
            at += len(part) + 3
    return lines


def pdf(
    pages: Sequence[Sequence[Line] | Image.Image],
    *,
    user: str | None = None,
    owner: str = "owner",
    annex: Mapping[int, Image.Image] | None = None,
) -> bytes:
    """A PDF: pages of lines, or of one picture that fills them.

    user: encrypts it (RC4, 40 bits); with an empty password everyone may open it.
    annex: pictures on pages that have lines too, by the place of the page.
    """
    objects: dict[int, bytes] = {1: b"<< /Type /Catalog /Pages 2 0 R >>"}
    kids = []
    for place, page in enumerate(pages):
        number = 4 + 3 * place
        picture = page if isinstance(page, Image.Image) else (annex or {}).get(place)
        lines = [] if isinstance(page, Image.Image) else page
        content = b"".join(map(_shown, lines))
        used = b""
        if picture is not None:
            content = b"q %d 0 0 %d 0 0 cm /Im Do Q\n" % A4 + content
            used = b" /XObject << /Im %d 0 R >>" % (number + 2)
            objects[number + 2] = _picture(picture)
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R " % (*A4, number + 1)
            + b"/Resources << /Font << /F 3 0 R >>%s >> >>" % used
        )
        objects[number + 1] = _stream(content, b"")
        kids.append(b"%d 0 R" % number)
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    return _written(objects, None if user is None else _Lock(user, owner))


def form(label: str, value: str) -> bytes:
    """A PDF with one field that somebody filled in."""
    filled = _shown((2, 5, 10, value))
    return _written(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >>",
            2: b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            4: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Annots [6 0 R] "
            b"/Resources << /Font << /F 3 0 R >> >> >>",
            5: _stream(_shown((50, 700, 10, label)), b""),
            6: b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (f) /F 4 /P 4 0 R /Rect [200 695 350 715] "
            b"/V (%s) /AP << /N 7 0 R >> >>" % value.encode("cp1252"),
            7: _stream(
                filled,
                b"/Type /XObject /Subtype /Form /BBox [0 0 150 20] /Resources << /Font << /F 3 0 R >> >> ",
            ),
        },
        None,
    )


def _shown(line: Line) -> bytes:
    x, y, size, text = line
    raw = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /F %g Tf %.2f %.2f Td (%s) Tj ET\n" % (size, x, y, raw)


def _picture(image: Image.Image) -> bytes:
    space = b"/DeviceGray" if image.mode == "L" else b"/DeviceRGB"
    head = b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s " % (*image.size, space)
    return _stream(jpeg(image), head + b"/BitsPerComponent 8 /Filter /DCTDecode ")


def _stream(data: bytes, head: bytes) -> bytes:
    return b"<< %s/Length %d >>\nstream\n%s\nendstream" % (head, len(data), data)


class _Lock:
    """The standard security handler, revision 2."""

    def __init__(self, user: str, owner: str) -> None:
        self.owner = rc4(hashlib.md5(_padded(owner)).digest()[:5], _padded(user))
        self.rights = (-44).to_bytes(4, "little", signed=True)
        self.key = hashlib.md5(_padded(user) + self.owner + self.rights + _NUMBER).digest()[:5]
        self.user = rc4(self.key, _PADDING)

    def seal(self, number: int, data: bytes) -> bytes:
        """The body of an object, its stream encrypted."""
        head, found, rest = data.partition(b"stream\n")
        if not found:
            return data
        body = rest.removesuffix(b"\nendstream")
        key = hashlib.md5(self.key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
        return head + found + rc4(key, body) + b"\nendstream"

    def entry(self) -> bytes:
        told = self.owner.hex().encode(), self.user.hex().encode()
        return b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -44 >>" % told


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PADDING)[:32]


def rc4(key: bytes, data: bytes) -> bytes:
    """The old stream cipher, as encrypted PDFs of its time use it."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _written(objects: dict[int, bytes], lock: _Lock | None) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    size = max(objects) + 2
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, lock.seal(number, body) if lock else body)
    extra = b""
    if lock:
        places[size - 1] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (size - 1, lock.entry())
        extra = b" /Encrypt %d 0 R /ID [<%s><%s>]" % (size - 1, *([_NUMBER.hex().encode()] * 2))
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 %s \n" % (places.get(number, 0), b"n" if number in places else b"f")
    out += b"trailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (size, extra, start)
    return bytes(out)


# -- pictures -------------------------------------------------------------------------------------


def scan(text: str, *, size: tuple[int, int] = (700, 990), letter: int = 17, seed: int = 1) -> Image.Image:
    """A page of text as a scanner sees it: grey, a little askew."""
    page = Image.new("L", size, 245)
    pen = ImageDraw.Draw(page)
    font = ImageFont.load_default(letter)
    for row, line in enumerate(text.split("\n")):
        pen.text((50, 50 + row * letter * 1.45), line, fill=40, font=font)
    tilt = Random(seed).uniform(-0.8, 0.8)
    return page.rotate(tilt, Image.Resampling.BICUBIC, fillcolor=245).filter(ImageFilter.GaussianBlur(0.4))


def jpeg(image: Image.Image, *, quality: int = 60, orientation: int = 1) -> bytes:
    """A JPEG; orientation as cameras note it."""
    out = io.BytesIO()
    marks = Image.Exif()
    if orientation != 1:
        marks[0x0112] = orientation
    image.save(out, "JPEG", quality=quality, exif=marks)
    return out.getvalue()


# -- office files and mails -----------------------------------------------------------------------

_WHEN = (2026, 1, 1, 0, 0, 0)
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_DOCS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument."


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive, the same bytes for the same parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _WHEN), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _package(main: str, kind: str, parts: Mapping[str, tuple[str, str]], links: str = "") -> bytes:
    """An office file. parts: name → content and the end of its content type."""
    types = "".join(
        f'<Override PartName="/{n}" ContentType="{_TYPES}{t}+xml"/>' for n, (_, t) in parts.items()
    )
    folder, _, name = main.rpartition("/")
    relations = f'<Relationship Id="r1" Type="{_DOCS}/officeDocument" Target="{main}"/>'
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
        "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
    }
    made |= {part: _XML + content for part, (content, _) in parts.items()}
    if links:
        made[f"{folder}/_rels/{name}.rels"] = (
            f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'
        )
    assert kind
    return packed(made)


Block = str | Sequence[Sequence[str]]  # a paragraph, or the rows of a table


def docx(blocks: Iterable[Block], *, head: str = "", foot: str = "") -> bytes:
    """A Word document."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = "".join(_paragraph(one) if isinstance(one, str) else _table(one) for one in blocks)
    kind = "wordprocessingml."
    parts = {
        "word/document.xml": (
            f"<w:document {space}><w:body>{body}</w:body></w:document>",
            kind + "document.main",
        )
    }
    links = ""
    for place, (name, mark, text) in enumerate((("header1", "hdr", head), ("footer1", "ftr", foot)), 2):
        if text:
            parts[f"word/{name}.xml"] = (f"<w:{mark} {space}>{_paragraph(text)}</w:{mark}>", kind + name[:-1])
            links += f'<Relationship Id="r{place}" Type="{_DOCS}/{name[:-1]}" Target="{name}.xml"/>'
    return _package("word/document.xml", kind, parts, links)


def _paragraph(text: str) -> str:
    runs = "<w:r><w:tab/></w:r>".join(
        f'<w:r><w:t xml:space="preserve">{escape(part)}</w:t></w:r>' for part in text.split("\t")
    )
    return f"<w:p>{runs}</w:p>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


Cell = str | float | datetime | None


def xlsx(sheets: Mapping[str, Sequence[Sequence[Cell]]], *, merged: Mapping[str, str] | None = None) -> bytes:
    """An Excel workbook. merged: sheet → a range of cells that are one."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    kind = "spreadsheetml."
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)
    )
    parts = {
        "xl/workbook.xml": (
            f'<workbook {space} xmlns:r="{_DOCS}"><sheets>{listed}</sheets></workbook>',
            kind + "sheet.main",
        ),
        "xl/styles.xml": (
            f'<styleSheet {space}><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders '
            'count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2">'
            '<xf/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>',
            kind + "styles",
        ),
    }
    links = f'<Relationship Id="s" Type="{_DOCS}/styles" Target="styles.xml"/>'
    for n, (name, rows) in enumerate(sheets.items(), 1):
        body = "".join(f'<row r="{r}">{_cells(row, r)}</row>' for r, row in enumerate(rows, 1))
        joined = (merged or {}).get(name)
        more = f'<mergeCells count="1"><mergeCell ref="{joined}"/></mergeCells>' if joined else ""
        part = f"<worksheet {space}><sheetData>{body}</sheetData>{more}</worksheet>"
        parts[f"xl/worksheets/sheet{n}.xml"] = (part, kind + "worksheet")
        links += f'<Relationship Id="r{n}" Type="{_DOCS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
    return _package("xl/workbook.xml", kind, parts, links)


def _cells(row: Sequence[Cell], number: int) -> str:
    return "".join(_cell(value, f"{chr(65 + n)}{number}") for n, value in enumerate(row))


def _cell(value: Cell, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    if isinstance(value, datetime):
        days = (value - datetime(1899, 12, 30)).total_seconds() / 86_400
        return f'<c r="{place}" s="1"><v>{days:g}</v></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def pptx(slides: Sequence[str]) -> bytes:
    """A presentation of slides with one text each."""
    space = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_DOCS}"'
    )
    kind = "presentationml."
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    parts = {
        "ppt/presentation.xml": (
            f"<p:presentation {space}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
            kind + "presentation.main",
        )
    }
    links = ""
    for n, text in enumerate(slides, 1):
        lines = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in text.split("\n"))
        shape = (
            '<p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
            f"<p:txBody><a:bodyPr/>{lines}</p:txBody></p:sp>"
        )
        part = f"<p:sld {space}><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>"
        parts[f"ppt/slides/slide{n}.xml"] = (part, kind + "slide")
        links += f'<Relationship Id="r{n}" Type="{_DOCS}/slide" Target="slides/slide{n}.xml"/>'
    return _package("ppt/presentation.xml", kind, parts, links)


def eml(
    body: str,
    *,
    subject: str = "Invoice",
    html: str | None = None,
    attachments: Sequence[tuple[str, str, bytes]] = (),
) -> bytes:
    """A mail. attachments: name, media type, bytes."""
    mail = EmailMessage()
    mail["From"] = "Accounts <accounts@example.com>"
    mail["To"] = "payables@example.org"
    mail["Date"] = format_datetime(datetime(2026, 4, 14, 9, 30, tzinfo=UTC))
    mail["Subject"] = subject
    mail["Message-ID"] = "<1@example.com>"
    mail.set_content(body)
    if html is not None:
        mail.add_alternative(html, subtype="html")
    for name, kind, data in attachments:
        main, _, sub = kind.partition("/")
        mail.add_attachment(data, maintype=main, subtype=sub, filename=name)
    if mail.is_multipart():
        mail.set_boundary("=-part-of-a-made-mail-=")
        for n, part in enumerate(mail.iter_parts()):
            if part.is_multipart():
                part.set_boundary(f"=-part-{n}-=")
    return mail.as_bytes()
