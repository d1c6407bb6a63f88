"""Charts as inline SVG, each with a sentence that says what it shows and its figures as a table.

Pure: numbers in, markup out. Colours are classes of the page's style, so that both themes fit; every
chart can be read without seeing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from extract.markup import Markup, folded, join, table, tag
from extract.show.numbers import short, ticks

WIDTH, HEIGHT = 400, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 10, 30
Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers over the same axis. name: for the legend. tone: 1 to 6, or `bad`."""

    name: str
    values: Sequence[float]
    tone: str = "1"


@dataclass(frozen=True, slots=True)
class Axis:
    """What stands below: a label for each value, and how many of them are written out."""

    labels: Sequence[str]
    title: str = ""
    shown: int = 5


def bars(title: str, said: str, axis: Axis, series: Sequence[Series], *, form: Format = short) -> Markup:
    """Bars over an axis, series stacked on each other. said: what the chart shows, in a sentence."""
    size = len(axis.labels)
    top = max((sum(one.values[i] for one in series) for i in range(size)), default=0)
    scale = ticks(top)
    step = (WIDTH - LEFT - RIGHT) / max(1, size)
    gap = min(4.0, step * 0.2)
    drawn = []
    for i in range(size):
        below = 0.0
        for one in series:
            value = one.values[i]
            if value > 0:
                y0, y1 = _y(below, scale[-1]), _y(below + value, scale[-1])
                hint = tag("title", f"{axis.labels[i]}: {form(value)} {one.name}")
                drawn.append(
                    tag(
                        "rect",
                        hint,
                        x=_n(LEFT + i * step + gap / 2),
                        y=_n(y1),
                        width=_n(max(0.6, step - gap)),
                        height=_n(max(0.6, y0 - y1)),
                        class_=f"f{one.tone}",
                    )
                )
            below += value
    return _figure(title, said, axis, series, scale, drawn, form, step=step)


def lines(title: str, said: str, axis: Axis, series: Sequence[Series], *, form: Format = short) -> Markup:
    """Lines over an axis. said: what the chart shows, in a sentence."""
    top = max((max(one.values, default=0) for one in series), default=0)
    scale = ticks(top)
    room = (WIDTH - LEFT - RIGHT) / max(1, len(axis.labels) - 1)
    drawn = []
    for one in series:
        points = [(LEFT + i * room, _y(value, scale[-1])) for i, value in enumerate(one.values)]
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        if len(series) == 1 and len(points) > 1:
            base = _n(HEIGHT - BOTTOM)
            area = f"{_n(points[0][0])},{base} {path} {_n(points[-1][0])},{base}"
            drawn.append(tag("polygon", points=area, class_=f"a{one.tone}"))
        drawn.append(tag("polyline", points=path, class_=f"s{one.tone}"))
    return _figure(title, said, axis, series, scale, drawn, form)


def ranks(title: str, said: str, rows: Sequence[tuple[str, float, str]], *, tone: str = "1") -> Markup:
    """Bars beside their names: name, value and how the value is written. Text stays text: it can be read,
    searched and wraps on a small screen."""
    top = max((value for _, value, _ in rows), default=0) or 1
    items = [
        tag(
            "li",
            tag("span", name, class_="name"),
            tag("span", written, class_="value"),
            tag("span", tag("i", style=f"width:{100 * value / top:.1f}%", class_=f"b{tone}"), class_="track"),
        )
        for name, value, written in rows
    ]
    return tag(
        "figure",
        tag("figcaption", tag("b", title), tag("span", said)),
        tag("ul", *items, class_="ranks"),
    )


def _figure(
    title: str,
    said: str,
    axis: Axis,
    series: Sequence[Series],
    scale: Sequence[float],
    drawn: Sequence[Markup],
    form: Format,
    *,
    step: float | None = None,
) -> Markup:
    legend = [tag("span", tag("i", class_=f"b{one.tone}"), one.name, class_="key") for one in series]
    figures = table(
        [axis.title or "at", *(one.name for one in series)],
        [[label, *(form(one.values[i]) for one in series)] for i, label in enumerate(axis.labels)],
        caption=f"{title}: the figures",
        numeric=range(1, len(series) + 1),
    )
    return tag(
        "figure",
        tag("figcaption", tag("b", title), tag("span", said)),
        tag("div", *legend, class_="legend") if len(series) > 1 else None,
        tag(
            "svg",
            tag("title", f"{title}. {said}"),
            _grid(scale, form),
            *drawn,
            _below(axis, step),
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            role="img",
            aria_label=f"{title}. {said}",
        ),
        folded("Figures", figures),
    )


def _grid(scale: Sequence[float], form: Format) -> Markup:
    parts = []
    for value in scale:
        y = _n(_y(value, scale[-1]))
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", form(value), x=LEFT - 6, y=y, dy="0.32em", text_anchor="end"))
    return join(parts)


def _below(axis: Axis, bar: float | None) -> Markup:
    """The labels: below the middle of a bar (bar: its width), or below the points of a line."""
    size = len(axis.labels)
    shown = (
        sorted({round(i * (size - 1) / max(1, axis.shown - 1)) for i in range(axis.shown)}) if size else []
    )
    step = (WIDTH - LEFT - RIGHT) / max(1, size - 1) if bar is None else bar
    ends = {0: 0.0, size - 1: float(bar or 0)}
    parts = [
        tag(
            "text",
            axis.labels[i],
            x=_n(LEFT + i * step + ends.get(i, (bar or 0) / 2)),
            y=HEIGHT - BOTTOM + 14,
            text_anchor="start" if i == 0 else "end" if i == size - 1 else "middle",
        )
        for i in shown
    ]
    if axis.title:
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(tag("text", axis.title, x=_n(middle), y=HEIGHT - 2, text_anchor="middle", class_="dim"))
    return join(parts)


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (value / top if top else 0)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


__all__ = ["Axis", "Series", "bars", "lines", "ranks"]
