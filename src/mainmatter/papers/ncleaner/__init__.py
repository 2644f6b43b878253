"""NCleaner (Evert 2008): docs/methods/ncleaner.md."""
