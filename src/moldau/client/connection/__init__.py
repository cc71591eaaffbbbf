"""Talking to brokers: where they are, who the client is to them, versions, metadata."""
