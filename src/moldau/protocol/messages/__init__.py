"""One module per API, request and response together."""
