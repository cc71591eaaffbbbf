"""Replicas of partitions: who leads, who follows, what is committed."""
