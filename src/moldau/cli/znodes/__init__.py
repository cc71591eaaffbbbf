"""Commands that read and write ZooKeeper itself, as Kafka's did before 3.0."""
