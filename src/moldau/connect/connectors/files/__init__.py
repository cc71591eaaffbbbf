"""Files of tables: Parquet, CSV and JSON in lines as sources, Parquet as a sink."""
