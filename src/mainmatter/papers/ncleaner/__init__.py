"""NCleaner: S. Evert, "A lightweight and efficient tool for cleaning Web pages", 2008.

docs/explanation/methods/ncleaner.md compares it with the paper. method.py is the pipeline (section 2), ngrams.py its
models (section 3). reproduce/ncleaner.py redoes its figures and tables (sections 3 to 6), reproduce/lynx.py its dumps.
"""
