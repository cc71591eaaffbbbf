"""Requests as tools for Kafka Connect send them: kcctl, kafbat UI, AKHQ, the Terraform provider.

What they send was read in their sources: kcctl ends paths with a slash; go-kafka-connect, under the
Terraform provider, has numbers and truth values in settings, and no content type without a body.
"""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from moldau.testing.broker import running_broker
from unit.connect.started import StartedWorker, started_worker, until

CLASS = "org.apache.kafka.connect.file.FileStreamSourceConnector"
STATUS = {"name", "connector", "tasks", "type"}
Json = dict[str, object]


@dataclass(slots=True)
class Tool:
    """Sends what one of them sends, with its headers and no others."""

    worker: StartedWorker
    headers: dict[str, str]

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        parts = urlsplit(self.worker.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port or 0, timeout=60)
        try:
            headers = dict(self.headers)
            data = None
            if body is not None:
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                headers["Content-Type"] = "application/json"
            elif method in ("POST", "PUT"):
                headers["Content-Length"] = "0"
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()


@pytest.fixture(scope="module")
def worker() -> Iterator[StartedWorker]:
    with (
        running_broker({"group.initial.rebalance.delay.ms": "0"}) as kafka,
        started_worker(kafka.bootstrap_servers) as running,
    ):
        yield running


@pytest.fixture
def config(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "in").write_text("line\n")
    return {
        "connector.class": CLASS,
        "file": str(tmp_path / "in"),
        "topic": "lines",
        "tasks.max": "1",
    }


def settled(worker: StartedWorker, name: str, state: str) -> None:
    wanted = [state] if state == "STOPPED" else [state, state]
    until(lambda: worker.states(name) == wanted, lambda: worker.states(name))


def test_kcctl(worker: StartedWorker, config: dict[str, str]) -> None:
    kcctl = Tool(worker, {"Accept": "application/json"})
    status, found = kcctl.ask("GET", "/")
    assert status == 200
    assert isinstance(found, dict)
    assert found.keys() == {"version", "commit", "kafka_cluster_id"}
    assert kcctl.ask("GET", "/connectors/") == (200, [])
    made = json.dumps({"name": "kc", "config": config})
    assert kcctl.ask("POST", "/connectors/", made)[0] == 201
    assert kcctl.ask("POST", "/connectors/", made)[0] == 409
    settled(worker, "kc", "RUNNING")
    status, found = kcctl.ask("GET", "/connectors?expand=info&expand=status")
    assert isinstance(found, dict)
    assert found["kc"].keys() == {"info", "status"}
    assert found["kc"]["status"].keys() == STATUS
    for path in ("connector-plugins?connectorsOnly=false", f"connector-plugins/{CLASS}/config"):
        status, listed = kcctl.ask("GET", f"/{path}")
        assert (status, isinstance(listed, list)) == (200, True)
    validate = f"/connector-plugins/{CLASS}/config/validate"
    status, found = kcctl.ask("PUT", validate, json.dumps({**config, "name": "kc"}))
    assert isinstance(found, dict)
    assert (status, found["error_count"]) == (200, 0)
    until(lambda: kcctl.ask("GET", "/connectors/kc/topics")[1] == {"kc": {"topics": ["lines"]}})
    assert kcctl.ask("GET", "/connectors/kc/tasks-config")[0] == 200
    assert kcctl.ask("POST", "/connectors/kc/tasks/0/restart")[0] == 204
    settled(worker, "kc", "RUNNING")
    assert kcctl.ask("POST", "/connectors/kc/restart")[0] == 204
    query = "includeTasks=true&onlyFailed=false"
    assert kcctl.ask("POST", f"/connectors/kc/restart?{query}")[0] == 202
    settled(worker, "kc", "RUNNING")
    assert kcctl.ask("PUT", "/connectors/kc/stop")[0] == 204
    settled(worker, "kc", "STOPPED")
    status, found = kcctl.ask("GET", "/connectors/kc/offsets")
    assert isinstance(found, dict)
    assert found["offsets"][0]["offset"] == {"position": 5}
    assert kcctl.ask("PATCH", "/connectors/kc/offsets", found)[0] == 200
    assert kcctl.ask("DELETE", "/connectors/kc/offsets")[0] == 200
    status, found = kcctl.ask("GET", "/admin/loggers/")
    assert isinstance(found, dict)
    assert "root" in found
    level = json.dumps({"level": "INFO"})
    assert kcctl.ask("PUT", "/admin/loggers/moldau.connect", level)[0] == 200
    assert kcctl.ask("PUT", "/admin/loggers/moldau.connect?scope=cluster", level)[0] == 204
    assert kcctl.ask("DELETE", "/connectors/kc")[0] == 204


def test_terraform(worker: StartedWorker, config: dict[str, str]) -> None:
    terraform = Tool(worker, {"Accept": "application/json", "User-Agent": "go-resty/1.12"})
    settings: Json = {**config, "name": "tf", "tasks.max": 1, "batch.size": 10}
    assert terraform.ask("GET", "/connectors/tf")[0] == 404
    status, found = terraform.ask("POST", "/connectors", {"name": "tf", "config": settings})
    assert status == 201
    assert isinstance(found, dict)
    kept = {**config, "name": "tf", "tasks.max": "1", "batch.size": "10"}
    assert found["config"] == kept
    changed: Json = {**settings, "batch.size": 20}
    assert terraform.ask("PUT", "/connectors/tf/config", changed)[0] == 200
    # What is read is what was set: otherwise each plan would change it again.
    assert terraform.ask("GET", "/connectors/tf/config") == (200, {**kept, "batch.size": "20"})
    settled(worker, "tf", "RUNNING")
    assert terraform.ask("PUT", "/connectors/tf/pause")[0] == 202
    assert terraform.ask("PUT", "/connectors/tf/resume")[0] == 202
    assert terraform.ask("DELETE", "/connectors/tf")[0] == 204


def test_web_interfaces(worker: StartedWorker, config: dict[str, str]) -> None:
    kafbat = Tool(worker, {"Accept": "application/json", "Accept-Encoding": "gzip"})
    assert kafbat.ask("POST", "/connectors", {"name": "a b/c", "config": config})[0] == 201
    path = "/connectors/a%20b%2Fc"
    settled(worker, "a%20b%2Fc", "RUNNING")
    for part in ("", "/config", "/status", "/tasks", "/tasks/0/status", "/topics", "/offsets"):
        assert kafbat.ask("GET", f"{path}{part}")[0] == 200, part
    _, tasks = kafbat.ask("GET", f"{path}/tasks")
    assert isinstance(tasks, list)
    assert tasks[0]["id"] == {"connector": "a b/c", "task": 0}
    assert kafbat.ask("PUT", f"{path}/config", {**config, "batch.size": "7"})[0] == 200
    settled(worker, "a%20b%2Fc", "RUNNING")
    # With any type of content, and an empty body: their clients name one on every request.
    named = Tool(worker, {"Accept": "*/*", "Content-Type": "application/json; charset=utf-8"})
    for verb in ("pause", "resume"):
        assert named.ask("PUT", f"{path}/{verb}")[0] == 202
    assert named.ask("POST", f"{path}/restart?includeTasks=true&onlyFailed=true")[0] == 202
    assert named.ask("POST", f"{path}/tasks/0/restart")[0] == 204
    assert named.ask("PUT", f"{path}/topics/reset")[0] == 202
    assert named.ask("GET", "/health")[0] == 200
    assert kafbat.ask("PUT", f"{path}/stop")[0] == 204
    settled(worker, "a%20b%2Fc", "STOPPED")
    assert kafbat.ask("DELETE", f"{path}/offsets")[0] == 200
    assert kafbat.ask("DELETE", path)[0] == 204
    assert kafbat.ask("DELETE", path)[0] == 404
