"""The cluster as one broker knows it."""
