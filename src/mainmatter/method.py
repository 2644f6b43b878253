"""What a method is, for those who write one and for those who use one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Document, Extraction


class Method(Protocol):
    """A way to tell main matter from boilerplate.

    Parameters are keywords of the constructor, each with a default. A method has no state: `extract` may be called
    from several threads, gives the same answer to the same document, and never raises on what a page contains.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def extract(self, document: Document) -> Extraction:
        """Decide which blocks of a document are main matter."""
        ...


class Told(Sequence[str]):
    """One sentence a block, made only for those who read it: a page has hundreds of blocks."""

    __slots__ = ()

    @abstractmethod
    def tell(self, index: int) -> str:
        """The sentence about one block."""

    def for_journey(self) -> Sequence[str]:
        """These sentences for a journey between processes, on which documents and methods stay behind."""
        return self

    def told_by(self, method: Method, document: Document) -> Sequence[str]:  # noqa: ARG002 - most need neither
        """These sentences once more, after such a journey."""
        return self

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.tell(i) for i in range(*index.indices(len(self)))]
        return self.tell(index)


@dataclass(frozen=True, slots=True, eq=False)
class Reasons(Told):
    """One of a few reasons for each block: a number a block, and what the numbers mean."""

    codes: NDArray[np.intp] | Sequence[int]
    legend: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def tell(self, index: int) -> str:
        """The reason of one block."""
        return self.legend[self.codes[index]]
