"""From a document to numbers, one family of features a file."""
