"""The table of APIs says what the declarations say."""

import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.protocol.apis import API_BY_KEY, APIS, Api
from moldau.protocol.declaration import facts_of

SOURCES = str(Path(moldau.__file__).parents[1])


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_the_table_agrees_with_both_declarations(api: Api) -> None:
    for cls, suffix in ((api.request, "Request"), (api.response, "Response")):
        facts = facts_of(cls)
        assert cls.__name__ == api.name + suffix
        assert all(facts.is_flexible(v) is api.is_flexible(v) for v in api.versions)
        assert facts == (api.key, api.versions, api.flexible_from)


def test_keys_ascend_and_are_found() -> None:
    keys = [api.key for api in APIS]
    assert keys == sorted(set(keys))
    assert API_BY_KEY[12].name == "Heartbeat"


def test_messages_are_loaded_when_they_are_first_asked_for() -> None:
    program = (
        "import sys; from moldau.protocol.apis import API_BY_KEY as apis;"
        "from moldau.protocol import headers, codec;"
        "loaded = lambda: [m for m in sys.modules if m.startswith('moldau.protocol.messages.')];"
        "assert not loaded(), loaded();"
        "apis[12].request; assert len(loaded()) == 1, loaded()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": SOURCES})
