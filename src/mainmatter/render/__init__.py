"""Extractions to text, Markdown, JSON, HTML, TEI, CleanEval's markup; and two pictures of them.

A format is a file here with `render(extraction, **options) -> str`, and a line in `mainmatter.registry.FORMATS`.
"""
