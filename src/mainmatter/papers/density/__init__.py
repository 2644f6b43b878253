"""Density: J. Arias Moreno and others, "Language Independent Content Extraction from Web Pages", 2009.

docs/methods/density.md compares it with the paper (section 4). The paper's tables are of 14 sets of pages that are not
to be had; docs/results/index.md has its figures on others.
"""
