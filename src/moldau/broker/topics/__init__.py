"""Topics in the coordination tree: created, grown, adopted and marked for deletion."""
