"""Filters of records: a small language, compiled to Arrow. Nothing of it is ever run as code."""
