"""The papers' tables and figures, redone with mainmatter: `python -m reproduce`, in a clone of the repository."""
