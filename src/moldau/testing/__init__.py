"""The test kit: what stands in for the world when a broker is tested."""
