"""Reports: an evaluation as one HTML file that needs nothing else and loads nothing (of a corpus: corpus/report.py).

`evaluation_report` gives the file's content; nothing of a page is ever markup in it (html.py).
"""

from mainmatter.lab.reports.evaluation import evaluation_report

__all__ = ["evaluation_report"]
