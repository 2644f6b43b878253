"""Keep the main matter of web pages, drop the boilerplate."""
