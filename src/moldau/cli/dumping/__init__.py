"""The files of a partition as text."""
