"""SQL is run over a part of a topic."""

import json
from urllib.parse import quote

import pytest

from unit.console.asking import API, Asking


async def asked(console: Asking, topic: str, sql: str, more: str = "") -> dict[str, object]:
    answer = await console.ask("GET", f"{API}/topics/{topic}/sql?sql={quote(sql)}{more}")
    assert answer.status == 200, answer.body
    found: dict[str, object] = json.loads(answer.body.splitlines()[-1])
    return found


async def test_a_topic_is_asked(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "queried", "partitions": 1})
    for user in ("anna", "bob", "anna"):
        body = {"value": json.dumps({"user": user}), "headers": {"h": "1"}}
        await console.send("POST", "/topics/queried/messages", body)
    sql = "SELECT json->>'$.user', count(*), min(\"offset\") FROM records GROUP BY 1 ORDER BY 1;"
    result = (await asked(console, "queried", sql))["result"]
    assert isinstance(result, dict)
    assert result["rows"] == [["anna", "2", "0"], ["bob", "1", "1"]]
    assert (result["records"], result["slice"]) == (3, "end")
    result = (await asked(console, "queried", 'SELECT max("offset") FROM records', "&limit=1"))[
        "result"
    ]
    assert isinstance(result, dict)
    assert (result["rows"], result["records"], result["slice"]) == ([["2"]], 1, "limit")
    assert "UNKNOWN_TOPIC" in str(await asked(console, "absent", "SELECT 1"))


async def test_what_cannot_be_asked_is_refused(
    console: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await console.refused("GET", "/topics/any/sql"))[0] == 400
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    status, message = await console.refused("GET", "/topics/any/sql?sql=x")
    assert (status, "pip install" in message) == (501, True)
