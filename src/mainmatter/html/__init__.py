"""HTML pages to documents: decode, parse, segment; metadata and places on demand."""
