"""Pages of small sites, for tests: a menu and a footer that all share, and a text of their own."""

from __future__ import annotations

from dataclasses import replace

from mainmatter.records import Page

MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/n>News</a><li><a href=/w>Weather</a></ul></nav>"
FOOTER = "<footer><p>The harbour paper, printed on the quay since 1871. All rights are reserved.</p></footer>"
# What looks like text, and only the site tells that it is not.
NOTICE = (
    "<div><p>The ferry to the island leaves from the northern quay, and goats travel free of charge, as they always "
    "have.</p></div>"
)


def text_of(number: int) -> str:
    """A text that only one page has."""
    return (
        f"Boat number {number} left the harbour at dawn, with {number + 3} sacks of flour and a goat on board. It took "
        f"the northern channel, where the water is deep, and passed the old light at {number} minutes past six, while "
        "the keeper was still asleep."
    )


def site_page(number: int, host: str = "harbour.example", extra: str = "") -> Page:
    """A page of a site."""
    url = f"https://{host}/{number}.html"
    html = f"<title>Boat {number}</title>{MENU}<article><h1>Boat {number}</h1><p>{text_of(number)}</p></article>{extra}"
    return Page(html + FOOTER, url, url)


def notice_page(number: int) -> Page:
    """A page with the notice, below a text that is long enough for nobody to be sure of the notice."""
    more = (
        f"<p>The crew of boat {number} had been up since midnight, mending the nets that the storm had torn, and none "
        f"had slept more than {number + 1} minutes. They ate bread and cheese on the quay, and did not speak.</p>"
        f"<p>By noon they had caught {number + 7} baskets of herring, a good day in any year, and the captain sent the "
        "boy ahead with the news.</p>"
    )
    page = site_page(number, extra=NOTICE)
    return replace(page, html=str(page.html).replace("</article>", f"{more}</article>"))


def site(count: int = 10, host: str = "harbour.example") -> list[Page]:
    """The pages of a site."""
    return [site_page(number, host) for number in range(count)]
