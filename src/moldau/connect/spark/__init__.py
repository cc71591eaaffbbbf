"""Tasks of connectors as tasks of Spark: everything of `moldau.connect` that knows Spark."""
