"""`python -m mainmatter`: the command line."""

from mainmatter.cli import main

main()
