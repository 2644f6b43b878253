"""The workbench: an HTTP API and a small web application. `mainmatter serve` runs it; extra `serve`.

Features, each with its routes and its tasks for worker processes:

    clean.py inspect.py compare.py evaluate.py corpus.py    pages and corpora
    annotate.py imports.py teach.py                         labels and models; labels/ is the store

For agents, over another protocol; `mainmatter mcp` runs it, extra `mcp`:

    agents.py page_tools.py    tools, and what they say about pages

What they share:

    app.py           puts it together: routes, pages, middleware
    workbench.py     what all routes use; `workbench.run(task, ...)` does a task in a worker process
    workers.py       the worker processes
    choosing.py page_source.py reading.py frames.py    methods, pages and uploads that requests name; pages made safe
    answers.py bodies.py security.py connections.py    errors, sizes of requests, tokens and origins, sockets
    html_pages.py    templates/ to HTML; scripts and styles are in static/
    metrics.py       /metrics and /health
"""
