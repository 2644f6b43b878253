"""The five papers, a package each: the method, its features, what it learns, and how its tables are redone."""
