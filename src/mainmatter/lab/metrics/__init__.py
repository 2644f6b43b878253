"""Metrics: how close is what a method gave to the gold standard?"""

from mainmatter.lab.metrics.metric import METRICS, Metric, Output, Row, find_metric

__all__ = ["METRICS", "Metric", "Output", "Row", "find_metric"]
