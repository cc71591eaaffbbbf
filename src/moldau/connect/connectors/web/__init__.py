"""Web servers as sources and sinks."""
