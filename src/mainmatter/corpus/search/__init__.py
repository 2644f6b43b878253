"""Search in a cleaned collection: an index of its texts, ranked by BM25. The extra `search`: tantivy and pyarrow."""

from mainmatter.corpus.search.analysis import STEMMERS
from mainmatter.corpus.search.build import IndexSummary, build_index, index_rows
from mainmatter.corpus.search.query import Found, Hit, Searcher
from mainmatter.corpus.search.rows import Corpus

__all__ = ["STEMMERS", "Corpus", "Found", "Hit", "IndexSummary", "Searcher", "build_index", "index_rows"]
