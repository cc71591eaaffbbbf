"""The life of an admin client: what one has beside the areas that it administers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.client.admin.connected import Connected
from moldau.client.admin.topics import TopicsArea
from moldau.testing.broker import running_broker


class TopicAdmin(TopicsArea, Connected):
    """An admin client with one area."""


async def test_a_client_has_the_areas_that_it_adds() -> None:
    with running_broker() as broker:
        async with TopicAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
            assert await admin.list_topics() == {}
    with pytest.raises(RuntimeError, match="the admin client is closed"):
        await admin.list_topics()


def test_what_a_client_does_not_add_is_not_loaded() -> None:
    code = (
        "import sys; import moldau.client.admin.connected; "
        "print([name for name in sys.modules if name.startswith('moldau.client.admin')])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for area in ("acls", "configs", "groups", "topics", "transactions", "users"):
        assert f"moldau.client.admin.{area}" not in done.stdout
