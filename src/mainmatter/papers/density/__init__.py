"""Density: J. Arias Moreno and others, "Language Independent Content Extraction from Web Pages", 2009.

docs/explanation/methods/density.md compares it with the paper (section 4). The paper's 14 sets of pages are not
available; docs/results/density.md has the figures on others.
"""
