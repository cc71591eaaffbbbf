"""The logs of this broker's replicas: opened, moved, flushed, cleaned, kept within bounds."""
