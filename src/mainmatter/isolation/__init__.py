"""Processes: children with limits and deadlines, pools, and what Ctrl-C does."""
