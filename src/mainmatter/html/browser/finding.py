"""Where Chromium is, and how it is started so that no page reaches the network."""

from __future__ import annotations

import os
import shutil

from mainmatter.errors import InputError, MissingExtra

PROGRAM = "MAINMATTER_CHROMIUM"  # the variable that names the program
NO_SANDBOX = "MAINMATTER_NO_SANDBOX"  # the variable that switches its sandbox off
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Playwright's switches are in force too. Requests of pages are stopped before they are made (tabs.py); these stop what
# is no request of a page: connections made in advance, updates, reports. No name has an address, not even one that is
# an address, and the proxy is a port that nobody listens on.
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--dns-prefetch-disable",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
)


def need_browser() -> None:
    """Find out, before any work, whether pages can be shown.

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium.
    """
    try:
        import playwright  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("playwright", "visual") from error
    find_chromium()


def find_chromium() -> str:
    """The path of Chromium or Chrome: the one that MAINMATTER_CHROMIUM names, or the first that the system has.

    Raises:
        InputError: there is none.
    """
    named = os.environ.get(PROGRAM)
    if named:
        found = shutil.which(named)
        if found is None:
            raise InputError(f"{PROGRAM} names {named}, which is no program; let it name Chromium or Chrome")
        return found
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    raise InputError(
        "showing pages needs Chromium, which is not here; install it (on Debian or Ubuntu: apt-get install chromium), "
        f"or let {PROGRAM} name the program"
    )


def has_sandbox() -> bool:
    """Whether Chromium can run in its sandbox: not as root, and not where somebody says that it cannot."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return not is_root and not os.environ.get(NO_SANDBOX)


def arguments() -> list[str]:
    """The command line switches of Chromium."""
    return [*_ARGUMENTS] if has_sandbox() else [*_ARGUMENTS, "--no-sandbox"]
