"""Connectors: tables, files and other systems in and out of topics, with Kafka Connect's names."""

from moldau.connect.connector import Offset, Sink, Source, SourceBatch, SourcePartition

__all__ = ["Offset", "Sink", "Source", "SourceBatch", "SourcePartition"]
