"""NCleaner: S. Evert, "A lightweight and efficient tool for cleaning Web pages", 2008.

docs/explanation/methods/ncleaner.md compares it with the paper. method.py is the pipeline (section 2), lynx.py its text
dumps, ngrams.py its models (section 3), reproduce.py its figures and tables (sections 3 to 6).
"""
