"""Quotas: what users, clients and addresses may use, and how long those wait that use more."""
