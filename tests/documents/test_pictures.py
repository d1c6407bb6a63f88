"""Pictures: as they are where they fit, else right side up and within the limits."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image

from benchmarks import makers
from extract.documents import Limits, read_documents


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def read(folder: Path, data: bytes, name: str = "a.png", **options: Any) -> dict[str, Any]:
    (folder / name).write_bytes(data)
    return read_documents(name, root=folder, **options).row(0, named=True)


def sent(row: dict[str, Any]) -> Image.Image:
    (picture,) = row["images"]
    return Image.open(io.BytesIO(picture["data"]))


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), Random(1).randbytes(width * height * 3))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_fits_is_sent_as_it_is(tmp_path: Path, kind: str) -> None:
    data = saved(Image.new("RGB", (40, 30), "red"), kind)
    row = read(tmp_path, data)
    assert (row["media_type"], row["pages"], row["text"], row["error"]) == (
        f"image/{kind.lower()}",
        1,
        None,
        None,
    )
    assert row["images"] == [
        {"page": 1, "media_type": f"image/{kind.lower()}", "data": data, "width": 40.0, "height": 30.0}
    ]


def test_a_turned_photo_is_turned_back(tmp_path: Path) -> None:
    photo = Image.new("RGB", (40, 20), "white")
    photo.paste((0, 0, 0), (0, 0, 20, 20))  # black on the left; orientation 6 turns it to the top
    made = sent(read(tmp_path, makers.jpeg(photo, quality=95, orientation=6)))
    assert made.size == (20, 40)
    assert made.convert("L").getpixel((10, 5)) < 60  # type: ignore[operator]
    assert made.convert("L").getpixel((10, 35)) > 200  # type: ignore[operator]


def test_a_picture_of_too_many_bytes_is_made_smaller(tmp_path: Path) -> None:
    data = saved(noise(300, 300), "PNG")
    limits = Limits(encoded=60_000)
    assert len(data) * 4 / 3 > limits.encoded
    (picture,) = read(tmp_path, data, limits=limits)["images"]
    assert len(picture["data"]) * 4 / 3 <= limits.encoded
    assert picture["media_type"] == "image/jpeg"


def test_a_wide_picture_is_scaled(tmp_path: Path) -> None:
    row = read(tmp_path, saved(Image.new("RGB", (9000, 20)), "PNG"))
    assert sent(row).size == (2000, 4)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    data = saved(Image.new("1", (20_000, 20_000)), "PNG")
    assert len(data) < 60_000
    assert "20,000 × 20,000 pixels, the limit is" in read(tmp_path, data)["error"]


def test_glass_becomes_white_paper(tmp_path: Path) -> None:
    data = saved(Image.new("RGBA", (3000, 10), (0, 0, 0, 0)), "PNG")
    assert sent(read(tmp_path, data)).convert("RGB").getpixel((5, 2)) == (255, 255, 255)


def test_a_bitmap_is_sent_as_something_that_is_taken(tmp_path: Path) -> None:
    row = read(tmp_path, saved(Image.new("RGB", (30, 20), "red"), "BMP"), "a.bmp")
    assert (row["media_type"], row["images"][0]["media_type"]) == ("image/bmp", "image/png")


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "I;16"])
def test_every_kind_of_tiff_is_sent_as_something_that_is_taken(tmp_path: Path, mode: str) -> None:
    row = read(tmp_path, saved(Image.new(mode, (30, 20)), "TIFF"), "a.tif")
    assert row["images"][0]["media_type"] in {"image/png", "image/jpeg"}


def test_each_page_of_a_fax_is_one(tmp_path: Path) -> None:
    pages = [Image.new("L", (30, 20), shade) for shade in (0, 120, 250)]
    row = read(tmp_path, saved(pages[0], "TIFF", save_all=True, append_images=pages[1:]), "a.tif")
    assert (row["pages"], [one["page"] for one in row["images"]]) == (3, [1, 2, 3])


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_cut_picture_says_so(tmp_path: Path, kind: str) -> None:
    data = saved(noise(80, 80), kind)
    assert "cut" in read(tmp_path, data[: len(data) // 2])["error"]


def test_the_type_comes_from_the_bytes(tmp_path: Path) -> None:
    row = read(tmp_path, makers.jpeg(Image.new("RGB", (9, 9))), "a.png")
    assert row["images"][0]["media_type"] == "image/jpeg"
