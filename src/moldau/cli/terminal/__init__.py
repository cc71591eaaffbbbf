"""How commands speak with the terminal: options, tables, errors, settings files."""
