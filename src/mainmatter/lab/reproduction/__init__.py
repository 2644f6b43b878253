"""The papers' tables and figures, redone on data that exists today; `mainmatter reproduce` runs them.

Each is a function `reproduce(run: Run) -> Report` in a file of this package.
"""
