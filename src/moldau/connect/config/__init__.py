"""Settings of connectors: definitions, checks and Kafka's texts for them."""
