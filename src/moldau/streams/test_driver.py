"""The name by which tests of applications have imported `testing/driver.py`."""

from moldau.streams.testing.driver import OutputRecord, TestDriver, local_session

__all__ = ["OutputRecord", "TestDriver", "local_session"]
