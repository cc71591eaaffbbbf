"""The REST interface of Kafka Connect 3.9."""
