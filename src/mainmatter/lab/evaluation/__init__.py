"""Methods x datasets x metrics: run, compare, report."""

from mainmatter.lab.evaluation.evaluate import Evaluation, evaluate
from mainmatter.lab.evaluation.report import to_json, to_table

__all__ = ["Evaluation", "evaluate", "to_json", "to_table"]
