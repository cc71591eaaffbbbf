"""What `moldau cat` takes over from kcat."""
