"""Min-max clustering: sets that share their members, for the pages of a site that share a template (Template 4.2).

The centres are sets themselves: the first is the one that shares most with all others; then, again and again, the one
whose distance to its nearest centre is largest, as long as that is far. Each set goes to its nearest centre. This is
the max-min-distance rule of the textbooks of that time; the paper names only Fukunaga's book.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Of 1, the distance of two sets that have nothing in common. Chosen on sites that are made up, where two templates
# share their header and footer (docs/results/template-clusters.md).
FAR = 0.5
MOST_CLUSTERS = 32


def cluster_sets(
    sets: Sequence[NDArray[np.uint64]], *, far: float = FAR, most: int = MOST_CLUSTERS
) -> NDArray[np.intp]:
    """Put sets that share most of their members together.

    Members that only one set has say nothing about what sets share, and do not count. The distance of two sets is one
    minus the share of common members among those that either has (Jaccard).

    Args:
        sets: the members of each, none twice.
        far: a set becomes the centre of a cluster of its own if its nearest centre is farther away than this.
        most: there are no more clusters than this.

    Returns:
        The number of each set's cluster: 0 for that of the first set, then in the order in which they first occur.
    """
    if not len(sets):
        return np.zeros(0, np.intp)
    members, owners = _shared_members(sets)
    sizes = np.bincount(owners, minlength=len(sets))
    common_in_all = np.bincount(members) if len(members) else np.zeros(1, np.intp)
    popularity = np.bincount(owners, common_in_all[members], len(sets)) if len(members) else np.zeros(len(sets))
    centre = int(popularity.argmax())
    nearest = np.zeros(len(sets), np.intp)
    distance = _distances(centre, members, owners, sizes)
    for number in range(1, min(most, len(sets))):
        centre = int(distance.argmax())
        if distance[centre] <= far:
            break
        to_new = _distances(centre, members, owners, sizes)
        closer = to_new < distance
        nearest[closer] = number
        distance[closer] = to_new[closer]
    return _in_order(nearest)


def _shared_members(sets: Sequence[NDArray[np.uint64]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The members that several sets have, as small numbers, and the set of each."""
    owners = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    _, members, counts = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    is_shared = counts[members] > 1
    return members[is_shared], owners[is_shared]


def _distances(
    centre: int, members: NDArray[np.intp], owners: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """How far each set is from one of them."""
    is_member = np.zeros(int(members.max(initial=0)) + 1, np.bool_)
    is_member[members[owners == centre]] = True
    common = np.bincount(owners, is_member[members], len(sizes)) if len(members) else np.zeros(len(sizes))
    either = sizes + sizes[centre] - common
    distances: NDArray[np.float64] = 1 - common / np.maximum(either, 1)
    # A set that shares nothing with any other is like none; it must not become a centre, nor be its own.
    distances[sizes == 0] = 0
    distances[centre] = 0
    return distances


def _in_order(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The same clusters, numbered by their first sets."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    return order[inverse]
