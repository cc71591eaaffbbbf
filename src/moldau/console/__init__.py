"""The web console: a client of any Kafka cluster, with pages."""
