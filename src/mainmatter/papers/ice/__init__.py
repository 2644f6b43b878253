"""ICE (Hofmann and Weerkamp 2007): docs/methods/ice-*.md."""
