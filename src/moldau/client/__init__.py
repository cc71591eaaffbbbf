"""Clients of any Kafka cluster: asyncio first, with blocking forms of the same names."""
