"""Template: L. Ma and others, "Extracting Unstructured Data from Template Generated Web Documents", 2003.

docs/explanation/methods/template.md compares it with the paper. method.py drops what a site repeats (section 3),
chunks.py cuts pages, site_counts.py counts (3, 4.2, 4.4). The three files reproduce/template*.py redo the paper's
tables and figures (4).
"""
