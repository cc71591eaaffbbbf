"""Programs in Java that belong to a cluster."""
