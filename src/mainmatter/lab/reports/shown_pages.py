"""The worst and best pages of each method, each folded, with the gold text against what was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.lab.reports.markup import Markup, address, join, shorten, tag
from mainmatter.lab.reports.study import shown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.metrics import Metric
    from mainmatter.lab.reports.diff import Diff
    from mainmatter.lab.reports.study import Choice, ShownPage, Snippets, Study

_TAGS = {"missed": "ins", "wrong": "del"}
_KEY = (
    "Words of the gold text that a method ",
    tag("ins", "missed"),
    " are underlined, words that it ",
    tag("del", "wrongly kept"),
    " are struck out. What is equal is shortened, and so are long differences.",
)


def pages_of_methods(studies: Sequence[Study]) -> Markup:
    """The pages that were chosen, by dataset and method."""
    parts = []
    for one in studies:
        methods = [
            _method(name, choice, one.metric, is_open=number == 0)
            for number, (name, choice) in enumerate(one.choices.items())
            if one.metric is not None and (choice.worst or choice.best)
        ]
        if methods:
            parts.append(join(tag("h3", one.dataset), methods))
    return join(tag("p", *_KEY, class_="key-words"), parts) if parts else Markup("")


def _method(name: str, choice: Choice, metric: Metric, *, is_open: bool) -> Markup:
    parts: list[Markup] = []
    if choice.worst:
        parts += [
            tag("h4", "Worst"),
            *(_page(page, metric, is_open=is_open and page is choice.worst[0]) for page in choice.worst),
        ]
    else:
        parts.append(tag("p", "No page of this method has a fault.", class_="note"))
    if choice.best:
        parts += [tag("h4", "Best"), *(_page(page, metric) for page in choice.best)]
    return tag("details", tag("summary", name), tag("div", *parts), class_="method", open=is_open)


def _page(page: ShownPage, metric: Metric, *, is_open: bool = False) -> Markup:
    score = f"{page.score:.1f}" if metric.percent else f"{page.score:.3f}"
    about = [*page.groups.values()]
    if page.page_type:
        about.append(f"taken for {page.page_type}")
    if page.confidence is not None:
        about.append(f"confidence {page.confidence:.2f}")
    if page.failure:
        about.append("failed")
    elif page.diff is not None:
        about.append(f"{page.diff.missed:,} missed, {page.diff.wrong:,} wrong")
    summary = tag(
        "summary",
        tag("b", score),
        tag("span", shorten(shown_name(page.id), 120)),
        tag("span", " · ".join(about), class_="about"),
    )
    figures = ", ".join(
        f"{column.replace('_', ' ')} {page.row[column]:.3f}" for column in metric.columns if column in page.row
    )
    inside = [
        tag("p", address(page.url)) if page.url else None,
        tag("p", figures, class_="note"),
        tag("p", f"It failed: {shorten(page.failure, 500)}", class_="failure") if page.failure else None,
        None if page.diff is None else _diff(page.diff),
        None if page.snippets is None else _snippets(page.snippets),
    ]
    return tag("details", summary, tag("div", *inside, class_="inside"), open=is_open)


def _diff(diff: Diff) -> Markup:
    notes = [f"{diff.both:,} words are in both, {diff.missed:,} were missed, {diff.wrong:,} wrongly kept."]
    if diff.unshown:
        notes.append(f"Shortened: {diff.unshown:,} more differences are not shown.")
    if diff.is_partial:
        notes.append("The texts are very long, and only their beginnings were compared.")
    pieces = []
    for piece in diff.pieces:
        if piece.kind == "cut":
            pieces.append(tag("span", f"[… {piece.text} …] ", class_="cut"))
        elif piece.kind in _TAGS:
            words = piece.text.rstrip()
            pieces.append(join(tag(_TAGS[piece.kind], words), piece.text[len(words) :]))
        else:
            pieces.append(join(piece.text))
    text = (
        tag("div", *pieces, class_="text", dir="auto") if pieces else tag("p", "Both texts are empty.", class_="note")
    )
    return join(text, tag("p", " ".join(notes), class_="note"))


def _snippets(snippets: Snippets) -> Markup:
    rows = [tag("li", "missed: ", tag("ins", shorten(one, 400))) for one in snippets.missed]
    rows += [tag("li", "wrongly kept: ", tag("del", shorten(one, 400))) for one in snippets.wrong]
    note = f"This page has no gold text but snippets; {snippets.right:,} are as they should be."
    return join(tag("ul", *rows, dir="auto") if rows else None, tag("p", note, class_="note"))
