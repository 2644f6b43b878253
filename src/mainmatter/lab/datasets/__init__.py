"""Gold standards: pages with what people say is their main content. One reader for all layouts; the table of names."""

from mainmatter.lab.datasets.gold import (
    DATASETS,
    Dataset,
    GoldPage,
    folds_by_site,
    load_dataset,
    sample_by_site,
    site_of,
)

__all__ = ["DATASETS", "Dataset", "GoldPage", "folds_by_site", "load_dataset", "sample_by_site", "site_of"]
