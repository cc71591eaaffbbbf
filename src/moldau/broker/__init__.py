"""The server: requests come in, machines decide, answers go out."""
