"""Parts of the commands that run and control Connect."""
