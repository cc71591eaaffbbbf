"""Event streaming compatible with Apache Kafka: broker, clients, tools, Spark pipelines."""

__version__ = "0.1.0"
