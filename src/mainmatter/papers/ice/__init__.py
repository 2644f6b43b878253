"""ICE: K. Hofmann and W. Weerkamp, "Web Corpus Cleaning using Content and Structure", 2007.

docs/explanation/methods/ice-*.md compare its methods with the paper: baseline.py (section 3.1), heuristic.py and
elaborate.py (3.2), tree.py with decision_tree.py (3.3), lm.py (3.4), regex.py with expressions.py and genetic.py (3.5).
reproduce/ice.py redoes the paper's table and figures (3.3, 3.5, 4).
"""
