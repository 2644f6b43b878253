"""Gold standards: pages with what people say is their main content. One reader for all layouts; the table of names."""

from mainmatter.lab.datasets.read import GoldPage, load_dataset
from mainmatter.lab.datasets.sites import folds_by_site, sample_by_site, site_of
from mainmatter.lab.datasets.table import DATASETS, Dataset

__all__ = ["DATASETS", "Dataset", "GoldPage", "folds_by_site", "load_dataset", "sample_by_site", "site_of"]
