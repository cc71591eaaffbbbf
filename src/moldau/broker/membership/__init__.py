"""This broker's place in the cluster: who it is, whom it follows, where it listens."""
