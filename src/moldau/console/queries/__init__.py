"""SQL over a part of a topic: run by DuckDB, in a process that can do nothing else."""
