"""A topology while it runs: started, watched, started again, shown."""
