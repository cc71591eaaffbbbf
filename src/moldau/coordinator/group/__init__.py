"""Consumer groups, and any other group that shares work by the classic protocol."""
