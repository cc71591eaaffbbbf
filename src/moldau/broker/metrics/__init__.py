"""What the broker counts and measures, and how well it is."""
