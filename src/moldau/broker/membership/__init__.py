"""This broker's place in the cluster: its id, the leaders it follows, its listeners."""
