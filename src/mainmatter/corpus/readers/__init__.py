"""Collections to pages: archives (WARC, WET), folders, JSONL, Parquet, lists of URLs or archives.

`find_shards` plans, without reading more than it must; `read_slice` reads a part of what was planned.
"""

from mainmatter.corpus.readers.fields import FieldNames
from mainmatter.corpus.readers.find import SHARD_SIZE, choose_shard_size, find_shards, input_facts
from mainmatter.corpus.readers.read import check_readers, read_slice
from mainmatter.corpus.readers.urls import FetchRules

__all__ = [
    "SHARD_SIZE",
    "FetchRules",
    "FieldNames",
    "check_readers",
    "choose_shard_size",
    "find_shards",
    "input_facts",
    "read_slice",
]
