"""What is said of consumer groups, and done to them, on the command line."""
