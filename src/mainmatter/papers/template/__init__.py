"""Template removal (Ma, Goharian and Chowdhury 2003): docs/methods/template.md."""
