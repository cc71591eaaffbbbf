"""Replicas of partitions: leaders, followers, what is committed."""
