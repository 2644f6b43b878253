"""Density (Arias, Deschacht and Moens 2009): docs/methods/density.md."""
