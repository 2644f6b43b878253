"""Where pages come from: paths, folders and URLs, and the sites that URLs belong to."""
