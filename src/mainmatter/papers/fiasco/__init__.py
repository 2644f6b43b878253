"""FIASCO: D. Bauer and others, "FIASCO: Filtering the Internet by Automatic Subtree Classification, Osnabrück", 2007.

docs/explanation/methods/fiasco.md compares it with the paper. method.py is the system (section 2), nodes.py finds our
target nodes and elements.py the paper's (2.1, 2.2), features.py (3.1, 3.2) and visual.py (3.3) describe them, svm.py
judges them (2.3), alignment.py labels them for training (5.1). reproduce/fiasco.py redoes the paper's tables (4 to 6).
"""
