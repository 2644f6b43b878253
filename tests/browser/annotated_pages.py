"""Pages for the tests of Annotate, written for them."""

from __future__ import annotations


def page_html(title: str = "Fog signals of the north coast") -> str:
    """A page with a bit of everything: navigation, headings, text, a list, comments, a footer."""
    paragraphs = "".join(f"<p>{text}</p>" for text in _PARAGRAPHS)
    items = "".join(f"<li>{text}</li>" for text in _ITEMS)
    comments = "".join(f"<div class='comment'><b>{name}</b><p>{text}</p></div>" for name, text in _COMMENTS)
    links = "".join(f"<li><a href='/{name.lower()}'>{name}</a></li>" for name in _PLACES)
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 16px/1.5 sans-serif; margin: 0 }} nav ul {{ display: flex; gap: 16px; list-style: none }}
main {{ max-width: 42em; margin: auto }} .comment {{ border-top: 1px solid #ccc }}
</style></head><body>
<nav><ul>{links}</ul></nav>
<main><h1>{title}</h1><p class="byline">By E. Hale, 3 March 2019</p>{paragraphs}
<h2>What a keeper had to hand</h2><ul>{items}</ul><p>{_LAST}</p>
<h3>Two comments</h3>{comments}</main>
<aside><h4>Most read</h4><ol><li><a href="/a">Ten harbours to see in autumn</a></li>
<li><a href="/b">The last steam tug</a></li></ol></aside>
<footer><p>Subscribe to our newsletter</p><p>Copyright 2019 The Coast Review</p></footer>
</body></html>"""


_PLACES = ("Home", "Harbours", "Lights", "Shop", "About")
_PARAGRAPHS = """
Before there was radar, a ship in fog had only its ears. The keepers of the north coast fired a gun every quarter of an
hour, and later sounded a reed horn that a hot-air engine drove.

The first horn stood at Carrick Head. It could be heard for five miles on a still night, and hardly for one when the
wind stood against it, which is when the boats needed it most.

In 1871 a committee sailed up and down for six weeks with notebooks, listening. Their report fills two volumes and comes
to the conclusion that fog is not a wall, but a room with doors.
""".strip().split("\n\n")
_ITEMS = ("forty pounds of powder, kept dry", "a clock that was right", "a second man, awake")
_LAST = "When the last engine was switched off in 1988, the keeper is said to have slept for a whole day."
_COMMENTS = (
    ("Mara", "My grandfather was that second man. He was not always awake."),
    ("Jon", "You can still see the foundations of the engine house at low tide."),
)
