"""Single message transformations and predicates, by Kafka's names."""
