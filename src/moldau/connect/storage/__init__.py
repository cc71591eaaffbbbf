"""The three compacted topics in which a Connect cluster keeps its state."""
