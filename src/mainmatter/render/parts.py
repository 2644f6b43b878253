"""What is rendered apart: the main matter, and the readers' comments where they are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Extraction

COMMENTS = "Comments"  # the only word that is ours in any output; pages' own headings for their comments stay too


def main_and_comments(extraction: Extraction) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Which blocks to render as main matter, and which apart, as comments: None where there is nothing to set apart.

    Comments that are kept but not marked are part of the main matter, at their places on the page.
    """
    is_comment = extraction.is_comment
    if not extraction.marks_comments or is_comment is None:
        return extraction.kept, None
    comments = extraction.kept & is_comment
    return (extraction.kept & ~is_comment, comments) if comments.any() else (extraction.kept, None)
