"""Apache Kafka as an oracle: its jars, tools, class library and broker, for the tests beside it."""
