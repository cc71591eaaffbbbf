"""Backups of a broker's log directories, and what is made of them."""
