"""Measuring and learning: datasets, metrics, evaluation, training, benchmarks, reports."""
