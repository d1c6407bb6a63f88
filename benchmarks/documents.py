"""Pages a second by format, and the memory that a folder of 2,000 files takes, read and scanned.

    python -m benchmarks.documents [files]

Files are made first, in a temporary folder. Memory is the peak of this process, each measured in a process of
its own; the folder is scanned at two sizes, since what must not grow with it is the scan's.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import makers
from extract.documents import read_documents, scan_documents

LINE = "Paper, white, 80 g, box {0}      {1}      12.50      {2}.50"
TEXT = "Acme & Sons Ltd\nInvoice number: R-{0}\n\n" + "\n".join(LINE.format(n, n, n * 12) for n in range(45))
PAGES = 20


def _html(number: int) -> bytes:
    rows = "".join(f"<tr><td>{n}</td><td>box</td><td>{n * 12}.50</td></tr>" for n in range(45))
    return f"<!DOCTYPE html><h1>R-{number}</h1><table>{rows}</table>".encode()


def _sheets(number: int) -> bytes:
    cells: list[list[makers.Cell]] = [[f"box {n} of {number}", n, 12.5, n * 12.5] for n in range(45)]
    return makers.xlsx({f"Sheet {n}": cells for n in range(1, PAGES + 1)})


def _words(number: int) -> bytes:
    rows = [[f"box {n} of {number}", str(n), "12.50"] for n in range(45)]
    return makers.docx([block for _ in range(PAGES) for block in ("Invoice", rows)])


def _text(number: int) -> str:
    return TEXT.format(number)


FORMATS: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "text": (PAGES, lambda n: "\f".join([_text(n)] * PAGES).encode()),
    "html": (1, _html),
    "csv": (1, lambda n: "\n".join(f"{k},box {n},{k * 12}.50" for k in range(45)).encode()),
    "eml": (2, lambda n: makers.eml(_text(n), attachments=[("a.txt", "text/plain", _text(n).encode())])),
    "docx": (PAGES, _words),
    "xlsx": (PAGES, _sheets),
    "pptx": (PAGES, lambda n: makers.pptx([_text(n)] * PAGES)),
    "pdf with text": (PAGES, lambda n: makers.pdf([makers.text_lines(_text(n))] * PAGES)),
    "pdf scanned": (4, lambda n: makers.pdf([makers.scan(_text(n), seed=n)] * 4)),
    "photo": (1, lambda n: makers.jpeg(makers.scan(_text(n), size=(2400, 3200), letter=40), orientation=6)),
}


def speeds(folder: Path) -> Iterator[tuple[str, int, float]]:
    """Format, pages and seconds; the start of the reading processes is in them."""
    for kind, (pages, make) in FORMATS.items():
        place = folder / kind.replace(" ", "_")
        place.mkdir()
        count = 20
        suffix = kind.split()[0]
        for number in range(count):
            (place / f"{number}.{suffix}").write_bytes(make(number))
        begun = time.perf_counter()
        frame = read_documents("*", root=place)
        assert frame["error"].null_count() == frame.height, frame["error"].to_list()
        yield kind, count * pages, time.perf_counter() - begun


def make_folder(folder: Path, count: int) -> None:
    """A mixed folder: texts, PDFs, sheets and a scan in ten."""
    folder.mkdir()
    makes = [FORMATS[kind][1] for kind in ("html", "csv", "eml", "pdf with text", "pdf scanned")]
    data = [make(1) for make in makes]
    for number in range(count):
        which = min(4, number % 10 // 2) if number % 10 else 4
        ending = ("html", "csv", "eml", "pdf", "pdf")[which]
        (folder / f"{number:05}.{ending}").write_bytes(data[which])


def _peak(read: str, folder: Path, out: multiprocessing.SimpleQueue[tuple[int, float, int]]) -> None:
    before = _high_water()
    begun = time.perf_counter()
    if read == "scan":
        rows = sum(1 for _ in scan_documents("*", root=folder))
    else:
        rows = read_documents("*", root=folder).height
    out.put((rows, time.perf_counter() - begun, _high_water() - before))


def _high_water() -> int:
    """The most memory that this process ever held, in KiB (Linux)."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) if found else 0


def memory(read: str, folder: Path) -> tuple[int, float, int]:
    """Rows, seconds and KiB that the peak grew by."""
    context = multiprocessing.get_context("spawn")
    out: multiprocessing.SimpleQueue[tuple[int, float, int]] = context.SimpleQueue()
    process = context.Process(target=_peak, args=(read, folder, out))
    process.start()
    process.join()
    return out.get()


def main(count: int = 2_000) -> None:
    """Prints both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{os.cpu_count()} cores")
        for kind, pages, seconds in speeds(folder):
            print(f"{kind:14} {pages / seconds:9,.0f} pages/s  ({pages} pages, {seconds:.2f} s)")
        for size in (count // 4, count):
            make_folder(folder / str(size), size)
            rows, seconds, grown = memory("scan", folder / str(size))
            print(f"scan {size:6,} files {rows:6,} rows {seconds:7.1f} s  peak +{grown / 1024:,.0f} MiB")
        rows, seconds, grown = memory("read", folder / str(count))
        print(f"read {count:6,} files {rows:6,} rows {seconds:7.1f} s  peak +{grown / 1024:,.0f} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
