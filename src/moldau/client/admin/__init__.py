"""Administration of a cluster: what the Admin client is made of, one module for each area."""
