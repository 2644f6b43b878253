"""The five papers, one package each: the method, its features, what it learns, and how its tables are redone."""
