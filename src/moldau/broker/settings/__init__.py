"""Settings of brokers, topics and clients: kept, changed while the broker runs, described."""
