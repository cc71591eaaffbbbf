"""The only port to the operating system."""
