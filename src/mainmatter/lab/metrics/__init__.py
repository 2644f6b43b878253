"""Metrics: how close the output of a method is to the gold standard."""

from mainmatter.lab.metrics.metric import METRICS, Metric, Output, Row, find_metric

__all__ = ["METRICS", "Metric", "Output", "Row", "find_metric"]
