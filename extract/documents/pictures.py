"""Pictures → pictures that a service takes: right side up, bounded in pixels and in bytes.

A picture that is fine is sent as it is. Needs pillow (extra `documents`).
"""

from __future__ import annotations

import io
import warnings

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from extract.documents.document import (
    PAGE_BREAK,
    Document,
    Limits,
    Picture,
    Settings,
    UnreadableError,
    check_pages,
)

Image.MAX_IMAGE_PIXELS = None  # the limit is ours, told before anything is unpacked
_AS_THEY_ARE = {"JPEG", "PNG", "GIF", "WEBP"}
_TURNED = 0x0112  # EXIF: orientation
_QUALITIES = (85, 70, 50)


def load(data: bytes, settings: Settings) -> Document:
    """A picture file as a document of one page; each page of a TIFF is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pages = enumerate(_pages(data, settings.limits), 1)
        pictures = [Picture(number, page, _size(page)) for number, page in pages]
    return Document(PAGE_BREAK * (len(pictures) - 1), len(pictures), tuple(pictures))


def _size(page: bytes) -> tuple[float, float]:
    """A picture file has no points: its pixels stand for them."""
    with Image.open(io.BytesIO(page)) as image:
        return float(image.width), float(image.height)


def _pages(data: bytes, limits: Limits) -> list[bytes]:
    try:
        with Image.open(io.BytesIO(data)) as image:
            _check_pixels(image, limits)
            frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            check_pages(frames, limits)
            if frames > limits.pictures:
                raise UnreadableError(f"it has {frames} pages, the limit for pictures is {limits.pictures}")
            if frames > 1:
                return [encode(frame.copy(), limits) for frame in ImageSequence.Iterator(image)]
            return [_fitted(image, data, limits)]
    except UnreadableError:
        raise
    except UnidentifiedImageError:
        raise UnreadableError("the picture is damaged or cut: its head cannot be read") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise UnreadableError(f"the picture is damaged or cut: {error}") from None


def _check_pixels(image: Image.Image, limits: Limits) -> None:
    width, height = image.size
    if width * height > limits.pixels:
        raise UnreadableError(f"it has {width:,} × {height:,} pixels, the limit is {limits.pixels:,} in all")


def _fitted(image: Image.Image, data: bytes, limits: Limits) -> bytes:
    turned = image.getexif().get(_TURNED, 1) != 1
    large = max(image.size) > limits.edge or _as_base64(len(data)) > limits.encoded
    if image.format in _AS_THEY_ARE and not turned and not large:
        image.load()  # a cut file shows here
        return data
    if image.format == "JPEG":
        image.draft(None, (limits.edge, limits.edge))  # unpacks no more than is needed
    return encode(ImageOps.exif_transpose(image), limits, lossless=image.format != "JPEG")


def encode(image: Image.Image, limits: Limits, *, lossless: bool = False) -> bytes:
    """The picture within the limits: as PNG where that is asked for and small enough, else as JPEG."""
    image = _opaque(image)
    image.thumbnail((limits.edge, limits.edge), Image.Resampling.LANCZOS)
    if lossless:
        data = _saved(image, "PNG", optimize=False)
        if _as_base64(len(data)) <= min(limits.encoded, 1_000_000):
            return data
    while True:
        for quality in _QUALITIES:
            data = _saved(image, "JPEG", quality=quality)
            if _as_base64(len(data)) <= limits.encoded:
                return data
        image = image.reduce(2)


def _opaque(image: Image.Image) -> Image.Image:
    """RGB or grey, on white paper."""
    if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
        layers = image.convert("RGBA")
        paper = Image.new("RGBA", layers.size, "white")
        return Image.alpha_composite(paper, layers).convert("RGB")
    if image.mode.startswith("I;16") or image.mode == "I":
        return image.point(lambda value: value / 256).convert("L")
    return image.convert("L") if image.mode in {"1", "L"} else image.convert("RGB")


def _saved(image: Image.Image, kind: str, **options: int) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def _as_base64(size: int) -> int:
    return (size + 2) // 3 * 4
