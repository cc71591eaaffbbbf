"""Lines to records and records to lines, for the console producer and consumer."""
