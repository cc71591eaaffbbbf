"""What change captures of databases share: tables, changes, records, settings."""
