"""Talking to brokers: addresses, authentication, versions, metadata."""
