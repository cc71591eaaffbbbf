"""Tables of SQL databases as sources and sinks, with the JDBC connectors' settings."""
