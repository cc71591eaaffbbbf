"""A schema registry with Confluent's interface: schemas over REST, kept in a topic."""
