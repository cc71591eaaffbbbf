"""The name by which tests of applications have imported `testing/processors.py`."""

from moldau.streams.testing.processors import ProcessorDriver

__all__ = ["ProcessorDriver"]
