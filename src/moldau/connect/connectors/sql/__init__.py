"""Tables of SQLite and PostgreSQL as sources and sinks, with the JDBC connectors' settings."""
