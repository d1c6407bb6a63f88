"""From a folder to typed rows: what is sent, what is not, and where each value stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from benchmarks import makers
from extract import Client, Evidence, Pipeline, Run
from extract.documents import read_documents, scan_documents
from extract.testing import LocalEndpoint


class Slip(BaseModel):
    number: str | None
    total: str | None


class Shown(BaseModel):
    number: Annotated[str, Evidence()]
    total: Annotated[str, Evidence()]


TEXT = "Number: {0}\n\nItem             Amount\nPaper            10.00\n\nTotal: {0}.50"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


def pipeline(endpoint: LocalEndpoint, model: Any, **options: Any) -> Pipeline:
    return Pipeline(model, client=Client(base_url=endpoint.base_url, api_key=endpoint.api_key), **options)


def run(endpoint: LocalEndpoint, folder: Path, model: Any = Slip, **options: Any) -> Run:
    frame = read_documents("in/**/*", root=folder)
    return pipeline(endpoint, model).run(
        frame, key="path", store=str(folder / "s.duckdb"), into="slips", **options
    )


def put(folder: Path, name: str, data: bytes) -> None:
    path = folder / "in" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_what_cannot_be_read_is_a_dead_letter_without_a_request(
    tmp_path: Path, endpoint: LocalEndpoint
) -> None:
    page = makers.text_lines(TEXT.format(7))
    put(tmp_path, "good.txt", TEXT.format(1).encode())
    put(tmp_path, "locked.pdf", makers.pdf([page], user="x"))
    put(tmp_path, "cut.pdf", makers.pdf([page])[:-100])
    put(tmp_path, "empty.pdf", b"")
    put(tmp_path, "no_pages.pdf", makers.pdf([]))
    put(tmp_path, "zip.pdf", makers.packed({"a": "b"}))
    done = run(endpoint, tmp_path)
    assert done.report.requests == 1
    assert done.report.accepted == 1
    assert done.report.dead_by_reason == {"unreadable": 5}
    findings = "\n".join(done.dead_letters["findings"].to_list())
    assert all(
        word in findings for word in ("encrypted", "cut", "the file is empty", "no pages", "not a PDF")
    )


def test_a_renamed_file_is_not_paid_again_and_a_changed_one_is(
    tmp_path: Path, endpoint: LocalEndpoint
) -> None:
    put(tmp_path, "a.pdf", makers.pdf([makers.text_lines(TEXT.format(1))]))
    put(tmp_path, "b.png", makers.jpeg(makers.scan("Number: 2", size=(120, 80))))
    assert run(endpoint, tmp_path).report.requests == 2
    (tmp_path / "in" / "a.pdf").rename(tmp_path / "in" / "renamed.pdf")
    (tmp_path / "in" / "b.png").rename(tmp_path / "in" / "z.png")
    again = run(endpoint, tmp_path)
    assert (again.report.requests, again.report.reused) == (0, 2)
    put(tmp_path, "renamed.pdf", makers.pdf([makers.text_lines(TEXT.format(3))]))
    changed = run(endpoint, tmp_path)
    assert (changed.report.requests, changed.report.reused) == (1, 1)
    assert changed.accepted.filter(path="in/renamed.pdf")["number"].to_list() == ["3"]


def test_a_scan_goes_into_a_run_as_it_is(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    for number in range(70):
        put(tmp_path, f"{number:02}.txt", TEXT.format(number).encode())
    done = pipeline(endpoint, Slip).run(
        scan_documents("in/*", root=tmp_path), key="path", store=str(tmp_path / "s.duckdb"), into="slips"
    )
    assert done.report.accepted == 70
    assert done.accepted["number"].to_list() == [str(number) for number in range(70)]


def test_evidence_has_page_and_box(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    put(tmp_path, "a.pdf", makers.pdf([makers.text_lines("Cover"), makers.text_lines(TEXT.format(42))]))
    put(tmp_path, "b.txt", TEXT.format(43).encode())
    done = run(endpoint, tmp_path, Shown)
    assert done.report.accepted == 2
    in_pdf, in_text = done.accepted["_evidence"].to_list()
    assert [(one["path"], one["page"], one["quote"]) for one in in_pdf] == [
        ("/number", 2, "42"),
        ("/total", 2, "42.50"),
    ]
    (x, y, size, _) = makers.text_lines(TEXT.format(42))[0]
    left, bottom, right, top = in_pdf[0]["box"]
    assert x < left < right < x + size * 6
    assert bottom <= y < top
    assert [one["box"] for one in in_text] == [None, None]


def test_boxes_fit_a_prompt_with_more_columns(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    put(tmp_path, "a.pdf", makers.pdf([makers.text_lines(TEXT.format(42))]))
    frame = read_documents("in/*", root=tmp_path)
    alone, among = (
        pipeline(endpoint, Shown, prompt=prompt)
        .run(frame, key="path", store=":memory:")
        .accepted["_evidence"]
        for prompt in ("{text}", "File {path}\n{text}")
    )
    assert [one["box"] for one in alone[0]] == [one["box"] for one in among[0]]


def test_pictures_are_sent_unless_evidence_could_never_be_found(
    tmp_path: Path, endpoint: LocalEndpoint
) -> None:
    put(tmp_path, "photo.jpg", makers.jpeg(makers.scan("Number: 2", size=(120, 80))))
    put(tmp_path, "scan.pdf", makers.pdf([makers.scan("Number: 3", size=(120, 80))]))
    assert run(endpoint, tmp_path).report.requests == 2
    (tmp_path / "s.duckdb").unlink()
    refused = run(endpoint, tmp_path, Shown)
    assert refused.report.requests == 0
    assert refused.report.dead_by_reason == {"unsupported": 2}
    assert "ocr=True" in refused.dead_letters["findings"][0]


def test_dead_letters_of_pictures_want_the_folder_again(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    class Needed(BaseModel):
        number: str

    put(tmp_path, "photo.jpg", makers.jpeg(makers.scan("Number: 2", size=(120, 80))))
    assert run(endpoint, tmp_path, Needed).report.dead_by_reason == {"invalid": 1}
    again = pipeline(endpoint, Needed)
    store = str(tmp_path / "s.duckdb")
    blind = again.redrive(store)
    assert blind.report.requests == 0
    assert "frame=" in blind.dead_letters["findings"][0]
    seen = again.redrive(store, frame=read_documents("in/**/*", root=tmp_path))
    assert seen.report.requests > 0
