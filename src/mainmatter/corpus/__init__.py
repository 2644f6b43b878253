"""Whole collections: a crawl of any size in, a clean corpus out, with nothing lost and nothing twice.

    INPUT... --find_shards--> shards --run_shard--> parts, rejects, markers --finish--> summary

`build_corpus` (build.py) is the way in; `run_shard` (shard.py) is all that an engine calls.
"""

from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.job import Job
from mainmatter.corpus.summary import Progress, Report, Summary

__all__ = ["Filters", "Job", "Progress", "Report", "Summary", "build_corpus"]
