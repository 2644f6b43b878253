"""Plain-text dumps of pages to documents."""
