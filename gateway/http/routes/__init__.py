"""One file per noun. A handler parses, calls the story and renders."""
