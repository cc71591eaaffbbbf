"""The fast path: codecs of the commonest requests, compiled, for what `requests` does."""
