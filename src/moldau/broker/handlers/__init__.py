"""One module per API: decode is done, authorise, call the domain, answer."""
