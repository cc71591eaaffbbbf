"""Delta and Iceberg tables as sinks."""
