"""Thin adapters for other people's pipelines: one file a library, named as the library is.

Each imports its library, so import the one that you use; all of them clean through page.py.
"""
