"""The nodes of a topology: plain declarations that know nothing of Spark."""
