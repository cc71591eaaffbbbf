"""What has settings, and how these are shown and changed on the command line."""
