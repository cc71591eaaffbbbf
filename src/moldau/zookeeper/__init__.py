"""The coordination tree served over ZooKeeper's own protocol, for clusters on one machine."""
