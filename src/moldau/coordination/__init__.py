"""The ZooKeeper-shaped tree that holds a cluster's state."""
