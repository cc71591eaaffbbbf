"""An admin client of a real broker."""

from collections.abc import AsyncIterator

import pytest_asyncio

from moldau.client.admin.admin import Admin
from moldau.testing.broker import EmbeddedBroker


@pytest_asyncio.fixture
async def admin(kafka: EmbeddedBroker) -> AsyncIterator[Admin]:
    """Quick to try again."""
    async with Admin(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=5) as admin:
        yield admin
