"""Dashboards: an evaluation or a corpus run as one HTML file that needs nothing else and loads nothing.

`evaluation_report` and `corpus_report` give the file's content; nothing of a page is ever markup in it (markup.py).
"""

from mainmatter.reports.corpus import corpus_report
from mainmatter.reports.evaluation import evaluation_report

__all__ = ["corpus_report", "evaluation_report"]
