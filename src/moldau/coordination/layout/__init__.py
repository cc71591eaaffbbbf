"""Which nodes Kafka keeps, and the text in them: one module per part of the tree."""
