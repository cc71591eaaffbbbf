"""Topologies and processors on given records, without a cluster."""
