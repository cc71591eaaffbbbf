"""Broker settings, one dataclass per area."""
