"""Output formats, one file each: `render(extraction, **options) -> str`. The table of them is in registry.py."""
