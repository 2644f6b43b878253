"""Child processes with deadlines and memory limits, for all parts of mainmatter that need one.

    child.py       `Child`: one process that answers calls; `ChildExited` says how it died. The protocol.
    pool.py        `Pool`: several of them, with a queue, futures for threads and event loops, and replacements
    parallel.py    `ordered_map`: a function over many items, in order
    memory.py      how much memory processes hold
    interrupts.py  Ctrl-C while the command line is being loaded

There is one protocol between processes. Who uses it:

    parallel.ordered_map                            cleaning many pages, evaluation, training, reproductions
    corpus/guard.py                                 pages of crawls: processor time, memory, a fork of a warm worker
    corpus/engines/local.py                         shards on this machine
    workbench/workers.py                            requests: asyncio, deadlines, memory, recycling
    workbench/labels/disagreement.py                pages that methods are compared on
    bench/contestant.py, bench/memory.py    peers and methods that are measured

Commands that are started on their own and communicate by files are not children in this sense: teaching, which outlives
the server (workbench), the contestants of `bench throughput`, and Lynx (reproduce/lynx.py).
"""
