"""The process that runs connectors."""
