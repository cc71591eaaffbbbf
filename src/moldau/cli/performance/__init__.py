"""Measurements of producers and consumers, in the words of Apache's tools."""
