"""FIASCO (Bauer and others 2007): docs/methods/fiasco.md."""
