"""Trained models: the shipped ones, one folder each, and how models are written and read (store.py)."""
