"""Transactions: which producer may use a transactional id, and which partitions end together."""
