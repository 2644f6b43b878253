"""The workbench's own HTML pages, made from templates/."""

from __future__ import annotations

from functools import cache


@cache
def html_page(name: str) -> str:
    """A page of the workbench, such as "inspect". It is the same for everybody, so it is rendered once."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # workers need none of it

    environment = Environment(
        loader=PackageLoader("mainmatter.workbench"),
        autoescape=True,
        keep_trailing_newline=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(f"{name}.html").render()
