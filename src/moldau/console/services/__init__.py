"""What stands beside a cluster and has REST: Connect, a registry, streams applications."""
