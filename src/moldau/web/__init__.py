"""The small HTTP layer that Connect, the registry and the console share."""
