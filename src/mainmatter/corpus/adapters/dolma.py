"""dolma: a linearizer. Importing this module registers it as "mainmatter".

dolma starts its processes anew, and they know only what the main module of the program imports. So import this module
at the top of your program; or run dolma's own command through it, which takes the same arguments:

    python -m mainmatter.corpus.adapters.dolma warc --linearizer mainmatter --documents ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mainmatter.corpus.adapters.page import MissingLibrary, PipelineCleaner
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.registry import DEFAULT_METHOD

try:
    from dolma.warc.linearizers import BaseLinearizer, LinearizerRegistry
except ImportError as error:
    raise MissingLibrary("dolma", "'dolma[warc]' dateparser") from error

if TYPE_CHECKING:
    from os import PathLike

    from mainmatter.method import Method


@LinearizerRegistry.add("mainmatter")
class MainmatterLinearizer(BaseLinearizer):  # type: ignore[misc]
    """Turns HTML into its main matter.

    dolma makes it without arguments. For others, derive a class that gives them, and register that under another name.

    Args:
        method: which method decides: a name, the folder of a trained model, or a method itself.
        limits: how large a page may be.
        parameters: the method's own parameters, such as `dial=0.7`.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter.
    """

    def __init__(
        self,
        method: str | PathLike[str] | Method = DEFAULT_METHOD,
        *,
        limits: Limits = DEFAULT_LIMITS,
        **parameters: Any,  # each method has its own
    ) -> None:
        self.cleaner = PipelineCleaner(method, limits, parameters=parameters)

    def linearize(self, content: str | bytes) -> str:
        """The main matter of a page; "" where there is none, which dolma writes as a document without text."""
        return self.cleaner.text_of(content) or ""


if __name__ == "__main__":
    from dolma.cli.__main__ import main

    main()
