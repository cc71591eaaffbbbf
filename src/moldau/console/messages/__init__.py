"""Records of topics: where to begin, how far to look, and how they are shown."""
