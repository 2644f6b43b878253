"""The workbench: an HTTP API and a small web application. `mainmatter serve` runs it; extra `serve`."""
