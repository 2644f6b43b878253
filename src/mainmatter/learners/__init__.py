"""Learning algorithms that know arrays and strings, not pages: the methods bring the pages to them."""
