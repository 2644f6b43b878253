"""Min-max clustering of sets (Template 4.2)."""

from __future__ import annotations

import numpy as np
import pytest

from mainmatter.papers.template.min_max import cluster_sets


def sets(*members: list[int]) -> list[np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    return [np.array(sorted(one), np.uint64) for one in members]


def test_sets_that_share_most_are_together() -> None:
    pages = sets([1, 2, 3, 100], [1, 2, 3, 101], [7, 8, 9, 102], [1, 2, 3, 103], [7, 8, 9, 104])
    assert cluster_sets(pages).tolist() == [0, 0, 1, 0, 1]


def test_clusters_are_numbered_by_their_first_sets() -> None:
    pages = sets([7, 8, 9], [1, 2, 3], [1, 2, 3], [1, 2, 3], [7, 8, 9])
    assert cluster_sets(pages).tolist() == [0, 1, 1, 1, 0]


def test_what_is_not_far_stays_together() -> None:
    pages = sets([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4], [1, 2, 3, 5])  # 3 of 5 are common
    assert cluster_sets(pages, far=0.5).tolist() == [0, 0, 0, 0]
    assert cluster_sets(pages, far=0.3).tolist() == [0, 1, 0, 1]


def test_members_of_one_set_do_not_count() -> None:
    pages = sets([1, 2, *range(100, 150)], [1, 2, *range(200, 250)])
    assert cluster_sets(pages).tolist() == [0, 0]


def test_no_more_clusters_than_asked_for() -> None:
    pages = sets(*([number, number + 50] for number in range(20) for _ in range(2)))
    assert cluster_sets(pages).max() == 19
    assert cluster_sets(pages, most=3).max() == 2


@pytest.mark.parametrize("pages", [[], sets([]), sets([], []), sets([1]), sets([1], [2]), sets([], [1], [1])])
def test_little_to_cluster(pages: list[np.ndarray[tuple[int], np.dtype[np.uint64]]]) -> None:
    labels = cluster_sets(pages)
    assert labels.tolist() == [0] * len(pages)
