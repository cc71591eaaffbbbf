"""What joins coordinators to the log: their shards, journals and producer ids."""
