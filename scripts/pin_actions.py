"""Pin the actions of the workflows to commits: a tag can be moved to other code, a commit cannot.

python scripts/pin_actions.py          # `uses: owner/name@v5` becomes `uses: owner/name@COMMIT # v5`
python scripts/pin_actions.py --check  # changes nothing; tells of tags that were moved, and of actions without a commit

Asks the forge for the tags by `git ls-remote`, so it needs the network.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click

WORKFLOWS = Path(__file__).parents[1] / ".github" / "workflows"
_USES = re.compile(
    r"(?P<uses>\buses: *(?P<action>[\w.-]+/[\w.-]+)(?P<folder>/[\w./-]+)?)@(?P<ref>[\w.-]+)(?: # (?P<tag>\S+))?"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; the exit code is 1 if something is not pinned to its tag.")
@click.option("--forge", default="https://github.com", show_default=True, help="Where the actions are.")
@click.option("--workflows", type=click.Path(path_type=Path, file_okay=False), default=WORKFLOWS, help="Their folder.")
def main(check: bool, forge: str, workflows: Path) -> None:
    """Pin the actions of the workflows to commits."""
    is_right = True
    for file in sorted(workflows.glob("*.yml")):
        text = file.read_text("utf-8")
        pinned = _USES.sub(lambda found: _pinned(found, forge), text)
        if pinned != text and check:
            is_right = False
            lines = zip(text.splitlines(), pinned.splitlines(), strict=True)
            click.echo("\n".join(f"{file.name}: {old.strip()}, not {new.strip()}" for old, new in lines if old != new))
        elif pinned != text:
            file.write_text(pinned, "utf-8")
            click.echo(f"{file.name}: pinned")
    sys.exit(not is_right)


def _pinned(found: re.Match[str], forge: str) -> str:
    """The use of an action with the commit of its tag, which follows as a comment."""
    is_commit = _COMMIT.fullmatch(found["ref"]) is not None
    if is_commit and found["tag"] is None:
        return found[0]
    tag = found["tag"] if is_commit else found["ref"]
    commit = _commit_of(f"{forge}/{found['action']}", tag)
    return f"{found['uses']}@{commit} # {tag}"


def _commit_of(repository: str, tag: str) -> str:
    """The commit that a tag of a repository stands for; of an annotated one not the tag, but what it points to."""
    command = ["git", "ls-remote", "--exit-code", repository, f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if asked.returncode:
        raise click.ClickException(f"{repository}: no tag {tag}, or it cannot be reached: {asked.stderr.strip()}")
    return asked.stdout.splitlines()[-1].partition("\t")[0]  # ^{} comes last


if __name__ == "__main__":
    main()
