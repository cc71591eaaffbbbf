"""From nodes to frames and queries of Spark."""
