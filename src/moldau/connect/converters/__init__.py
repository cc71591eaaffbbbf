"""Keys, values and headers of topics, to and from Connect's data."""
