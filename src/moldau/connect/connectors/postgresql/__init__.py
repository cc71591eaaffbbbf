"""Every change of PostgreSQL's tables, from its log, by Debezium's names and formats."""
