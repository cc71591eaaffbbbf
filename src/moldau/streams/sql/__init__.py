"""SQL over topics: what is typed, which tables topics are, and what is shown of the results."""
