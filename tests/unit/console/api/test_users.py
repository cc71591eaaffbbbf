"""Users get SCRAM passwords, and no answer, line or log has them again."""

import logging
from pathlib import Path

import pytest

from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import API, Asking, asking

SECRET = "correct horse battery"


async def test_a_user_is_added_shown_and_removed(console: Asking) -> None:
    added = await console.send("PUT", "/users", {"user": "<b>anna</b>", "password": SECRET})
    assert added == {"user": "<b>anna</b>", "mechanism": "SCRAM-SHA-512", "iterations": 4096}
    other = {"user": "<b>anna</b>", "password": SECRET, "mechanism": "SCRAM-SHA-256"}
    await console.send("PUT", "/users", {**other, "iterations": 8192})
    (row,) = (await console.get("/users"))["users"]
    assert row["user"] == "<b>anna</b>"
    assert [(each["mechanism"], each["iterations"]) for each in row["credentials"]] == [
        ("SCRAM-SHA-256", 8192),
        ("SCRAM-SHA-512", 4096),
    ]
    path = "/users/%3Cb%3Eanna%3C%2Fb%3E"
    assert (await console.refused("DELETE", path, {"confirm": "anna"}))[0] == 400
    one = {"confirm": "<b>anna</b>", "mechanism": "SCRAM-SHA-256"}
    assert (await console.send("DELETE", path, one))["mechanisms"] == ["SCRAM-SHA-256"]
    assert (await console.refused("DELETE", path, one))[0] == 404
    await console.send("DELETE", path, {"confirm": "<b>anna</b>"})
    assert (await console.get("/users"))["users"] == []


async def test_a_password_is_in_no_answer_line_or_log(
    broker: EmbeddedBroker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    audit = tmp_path / "audit"
    clusters = {"local": {"bootstrap.servers": broker.bootstrap_servers}}
    async with asking(clusters, audit=str(audit)) as console:
        bodies = [
            {"user": "ben", "password": SECRET},
            {"user": "ben", "password": SECRET, "mechanism": "PLAIN"},
            {"user": "ben", "password": SECRET, "iterations": 99_999},
            {"user": "", "password": SECRET},
        ]
        answers = [await console.ask("PUT", f"{API}/users", each) for each in bodies]
        await console.ask("DELETE", f"{API}/users/ben", {"confirm": "ben"})
    assert [each.status for each in answers] == [200, 400, 400, 400]
    shown = b"".join(each.body for each in answers).decode() + audit.read_text() + caplog.text
    assert SECRET not in shown
    assert "PUT" in audit.read_text()


@pytest.mark.parametrize("password", [None, "", 1, ["a"], "x" * 1001])
async def test_what_is_no_password_is_refused(console: Asking, password: object) -> None:
    refused = await console.refused("PUT", "/users", {"user": "c", "password": password})
    assert refused == (400, "password: 1 to 1000 characters")


async def test_a_user_that_is_not_there_is_not_found(console: Asking) -> None:
    assert (await console.refused("DELETE", "/users/none", {"confirm": "none"}))[0] == 404
