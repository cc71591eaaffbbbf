"""Typed settings with Kafka's own names and defaults."""
