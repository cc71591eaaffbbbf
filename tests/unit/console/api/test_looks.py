"""Looks have places, and an end."""

import json

import pytest
from starlette.requests import Request

from moldau.console.access import ConsoleRights
from moldau.console.api import looks
from moldau.console.cluster import ConsoleCluster
from moldau.console.endpoints import ApiCall, Console
from moldau.console.seats import Seats
from moldau.web.users import User
from unit.console.asking import API, Asking, streaming
from unit.waiting import until


async def test_there_are_so_many_looks(console: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    seats = Seats("looks", total=9, each=0)
    monkeypatch.setattr("moldau.console.api.messages.SCANS", seats)
    assert (await console.refused("GET", "/topics/any/messages"))[0] == 429
    monkeypatch.undo()
    monkeypatch.setattr(looks, "SCANS", seats)
    answer = await console.ask("GET", f"{API}/topics/any/messages")
    assert "0 looks at once" in json.loads(answer.body)["error"], "it was lost in between"


async def test_a_look_ends_with_its_tab(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "looked", "partitions": 1})
    async with streaming(console.app, "/topics/looked/messages"):
        await until(lambda: looks.SCANS.taken)
    assert looks.SCANS.taken == 0


def test_a_user_is_one_wherever_the_requests_come_from() -> None:
    def asked(user: User | None, host: str) -> ApiCall:
        scope = {"type": "http", "client": (host, 1), "state": {"user": user}, "headers": []}
        actor = ConsoleRights().actor(user)
        cluster = ConsoleCluster("local", {})
        return ApiCall(Request(scope), Console({}, {}), cluster, actor)

    assert looks.who(asked(User("anna"), "1.2.3.4")) == looks.who(asked(User("anna"), "5.6.7.8"))
    assert looks.who(asked(None, "1.2.3.4")) != looks.who(asked(None, "5.6.7.8"))
