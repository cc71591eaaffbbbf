"""Transactions: who may write under a transactional id, and which partitions end together."""
