"""What holds for all tests that play seeds in their own process."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    """Log nothing: a captured record of a failure would keep its world alive beyond its end."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
