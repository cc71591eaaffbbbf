"""Connectors are seen, made, changed and mended by REST alone, and their secrets stay there."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from moldau.console.services.connectors import MASK
from moldau.console.services.rest import RestService
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import StartedWorker, started_worker, until
from unit.console.asking import Asking, asking
from unit.console.services.answering import AnsweringService, answering

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
NOWHERE = {"local": {"bootstrap.servers": "127.0.0.1:1"}}
SECRET = "hunter22"


@pytest.fixture(scope="module")
def worker(broker: EmbeddedBroker) -> Iterator[StartedWorker]:
    with started_worker(broker.bootstrap_servers) as started:
        yield started


@pytest.fixture
async def connected(worker: StartedWorker) -> AsyncIterator[Asking]:
    services = {"w": RestService(worker.url), "gone": RestService("http://127.0.0.1:1")}
    async with asking(NOWHERE, beside={"connect": services}) as found:
        yield found


def settled(worker: StartedWorker, states: list[str]) -> None:
    name = "a%2F%3Cb%3E"
    until(lambda: worker.states(name) == states, lambda: (states, worker.states(name)))


async def test_a_connector_lives(connected: Asking, worker: StartedWorker, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("one\n")
    config = {
        "connector.class": SOURCE,
        "topic": "lines",
        "file": str(tmp_path / "in"),
        "my.password": SECRET,
    }
    name, path = "a/<b>", "/connect/w/connectors/a%2F%3Cb%3E"
    await connected.send("POST", "/connect/w/connectors", {"name": name, "config": config})
    settled(worker, ["RUNNING", "RUNNING"])
    here, gone = (await connected.get("/connect"))["workers"]
    assert "does not answer" in gone["error"]
    (row,) = here["connectors"]
    assert (row["name"], row["state"], row["tasks"]) == (name, "running", {"RUNNING": 1})
    found = await connected.get(path)
    assert found["config"]["my.password"] == MASK
    changed = {**found["config"], "topic": "others"}
    await connected.send("PUT", f"{path}/config", {"config": changed})
    settled(worker, ["RUNNING", "RUNNING"])
    kept = worker.ask("GET", "/connectors/a%2F%3Cb%3E/config")[1]
    assert isinstance(kept, dict)
    assert (kept["my.password"], kept["topic"]) == (SECRET, "others")
    status, message = await connected.refused("DELETE", f"{path}/offsets", {"confirm": name})
    assert status == 409
    assert "stop it first, and resume it after" in message
    await connected.send("POST", f"{path}/stop")
    settled(worker, ["STOPPED"])
    assert (await connected.refused("DELETE", f"{path}/offsets", {}))[0] == 400
    await connected.send("DELETE", f"{path}/offsets", {"confirm": name})
    offsets = [{"partition": {"filename": str(tmp_path / "in")}, "offset": {"position": 4}}]
    await connected.send("PATCH", f"{path}/offsets", {"offsets": offsets})
    assert (await connected.get(path))["offsets"][0]["offset"] == '{"position": 4}'
    await connected.send("POST", f"{path}/resume")
    settled(worker, ["RUNNING", "RUNNING"])
    await connected.send("POST", f"{path}/restart", {"only_failed": True})
    assert (await connected.refused("DELETE", path, {"confirm": "a"}))[0] == 400
    await connected.send("DELETE", path, {"confirm": name})
    settled(worker, [])


async def test_a_form_has_errors_at_its_fields(connected: Asking) -> None:
    (found,) = (
        each
        for each in (await connected.get("/connect/w/plugins"))["plugins"]
        if each["class"].endswith("FileStreamSourceConnector")
    )
    config = {"connector.class": found["class"], "name": "x", "tasks.max": "none"}
    form = await connected.send("POST", "/connect/w/plan", {"config": config})
    wrong = {each["name"] for each in form["fields"] if each["errors"]}
    assert "tasks.max" in wrong
    assert form["errors"] == len(wrong)
    refused = await connected.refused("POST", "/connect/w/plan", {"config": {"a": "b"}})
    assert refused == (400, "config: connector.class is missing")
    assert (await connected.refused("GET", "/connect/other/plugins"))[0] == 404


def of(service: AnsweringService) -> AbstractAsyncContextManager[Asking]:
    return asking(NOWHERE, beside={"connect": {"w": RestService(service.url)}})


async def test_traces_and_errors_of_others_have_no_secrets() -> None:
    trace = f"<script>\n cannot log in with {SECRET}"
    config = {"connector.class": "C", "db.password": SECRET}
    status = {
        "connector": {"state": "RUNNING"},
        "tasks": [{"id": 0, "state": "FAILED", "trace": trace}],
    }
    error = {"definition": {"name": "db.password"}, "value": {"errors": [f"{SECRET} is wrong"]}}
    answers: dict[str, tuple[int, object]] = {
        "GET /": (200, {"version": "3.9.0"}),
        "GET /connectors?expand=status": (200, {"x": {"status": status}}),
        "GET /connectors?expand=info": (200, {"x": {"info": {"config": config}}}),
        "GET /connectors/x/status": (200, status),
        "GET /connectors/x/config": (200, config),
        "PUT /connector-plugins/C/config/validate": (200, {"configs": [error]}),
    }
    async with answering(answers) as service, of(service) as console:
        listed = await console.ask("GET", "/api/clusters/local/connect")
        one = await console.ask("GET", "/api/clusters/local/connect/w/connectors/x")
        form = await console.ask(
            "POST",
            "/api/clusters/local/connect/w/plan",
            {"config": {**config, "db.password": MASK}, "connector": "x"},
        )
    assert [each.status for each in (listed, one, form)] == [200, 200, 200]
    for each in (listed, one, form):
        assert SECRET.encode() not in each.body
    assert service.asked[-1][1] == config, "the worker checks the secret itself"


async def test_older_workers_that_say_nothing_of_offsets_are_shown_without() -> None:
    answers: dict[str, tuple[int, object]] = {
        "GET /connectors/x/status": (200, {}),
        "GET /connectors/x/config": (200, {}),
    }
    async with answering(answers) as service, of(service) as console:
        found = await console.get("/connect/w/connectors/x")
    assert (found["offsets"], found["topics"], found["state"]) == (None, [], "unassigned")


async def test_offsets_are_objects() -> None:
    async with asking(NOWHERE, beside={"connect": {"w": RestService("http://localhost:1")}}) as it:
        path = "/connect/w/connectors/x/offsets"
        assert (await it.refused("PATCH", path, {"offsets": [{"partition": 1}]}))[0] == 400
