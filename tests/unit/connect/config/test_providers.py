"""Values that are kept elsewhere are used, and never shown."""

import asyncio
import json
from pathlib import Path

import pytest

from moldau.connect.config.providers import ConfigProviders
from moldau.connect.errors import ConfigError
from moldau.connect.storage.topics import read_state
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker
from unit.connect.started import started_worker, until

_PACKAGE = "org.apache.kafka.common.config.provider."
WORKER = {
    "config.providers": "file, env,directory",
    "config.providers.file.class": f"{_PACKAGE}FileConfigProvider",
    "config.providers.env.class": f"{_PACKAGE}EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern": "SHOP_.*",
    "config.providers.directory.class": f"{_PACKAGE}DirectoryConfigProvider",
}


def resolved(text: str, worker: dict[str, str] | None = None) -> str:
    return ConfigProviders({**WORKER, **(worker or {})}).resolved({"x": text})["x"]


def test_values_are_of_files_directories_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secrets").write_text("user = shop\npassword=a=b")
    monkeypatch.setenv("SHOP_HOST", "db")
    file = f"{tmp_path}/secrets"
    assert resolved(f"${{file:{file}:user}}@${{env:SHOP_HOST}}/x") == "shop@db/x"
    assert resolved(f"${{directory:{tmp_path}:secrets}}") == "user = shop\npassword=a=b"
    assert resolved("${topic} ${vault:a:b}") == "${topic} ${vault:a:b}"


def test_nothing_is_provided_unless_the_worker_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_HOST", "db")
    assert ConfigProviders().resolved({"x": "${env:SHOP_HOST}"}) == {"x": "${env:SHOP_HOST}"}
    with pytest.raises(ConfigError, match=r"config\.providers\.a\.class"):
        ConfigProviders({"config.providers": "a"})
    with pytest.raises(ConfigError, match=r"there is no x\.Y, only org\.apache"):
        ConfigProviders({"config.providers": "a", "config.providers.a.class": "x.Y"})


def test_what_is_not_there_or_not_allowed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME_OF", "x")
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.write_text("a=b")
    (inside / "link").symlink_to(outside)
    (inside / "own").write_text("a=c")
    allowed = {"config.providers.file.param.allowed.paths": str(inside)}
    allowed["config.providers.directory.param.allowed.paths"] = str(inside)
    assert resolved(f"${{file:{inside}/own:a}}", allowed) == "c"
    for text, why in (
        ("${env:HOME_OF}", "no such value"),
        ("${env:a:SHOP_X}", "have no path"),
        (f"${{file:{inside}/own:b}}", "no such value"),
        (f"${{file:{inside}/none:a}}", "No such file"),
        (f"${{file:{outside}:a}}", "not below allowed.paths"),
        (f"${{file:{inside}/../out:a}}", "not below allowed.paths"),
        (f"${{file:{inside}/link:a}}", "not below allowed.paths"),
        (f"${{directory:{inside}:../out}}", "is no name of a file"),
        (f"${{directory:{inside}:link}}", "not below allowed.paths"),
        (f"${{directory:{tmp_path}:out}}", "not below allowed.paths"),
    ):
        with pytest.raises(ConfigError, match=why):
            resolved(text, allowed)


def test_texts_name_values_instead_of_showing_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_A", "env")
    monkeypatch.setenv("SHOP_B", "env.long")
    providers = ConfigProviders(WORKER)
    assert providers.hide("env") == "env"
    providers.resolved({"a": "${env:SHOP_A}", "b": "${env:SHOP_B}"})
    assert providers.hide("no env.long, env") == "no ${env:SHOP_B}, ${env:SHOP_A}"


def test_a_worker_uses_values_and_shows_and_stores_their_names(
    cluster: EmbeddedBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = tmp_path / "hidden-words"
    source.write_text("one\n")
    monkeypatch.setenv("SHOP_FILE", str(source))
    monkeypatch.setenv("SHOP_STRINGS", "org.apache.kafka.connect.storage.StringConverter")
    topics = {f"{each}.storage.topic": f"p-{each}" for each in ("config", "offset", "status")}
    settings = {**WORKER, **topics, "group.id": "p", "value.converter": "${env:SHOP_STRINGS}"}
    config = {"connector.class": "FileStreamSource", "topic": "p", "file": "${env:SHOP_FILE}"}
    with started_worker(cluster.bootstrap_servers, settings) as worker:
        worker.put("p", config)
        until(lambda: bool(offsets(worker.ask("GET", "/connectors/p/offsets")[1])))
        shown = [
            worker.ask("GET", f"/connectors/p/{each}")[1] for each in ("config", "tasks", "status")
        ]
        checked = worker.ask(
            "PUT",
            "/connector-plugins/FileStreamSource/config/validate",
            {**config, "tasks.max": "${env:SHOP_FILE}"},
        )[1]
        refused = worker.ask(
            "PUT", "/connectors/q/config", {**config, "tasks.max": "${env:SHOP_FILE}"}
        )
        worker.put(
            "r", {"connector.class": "FileStreamSink", "topics": "p", "file": "${env:SHOP_FILE}/x"}
        )
        until(lambda: worker.states("r")[1:] in (["RESTARTING"], ["FAILED"]))
        shown.append(worker.ask("GET", "/connectors/r/status")[1])
        settings["bootstrap.servers"] = cluster.bootstrap_servers
        state = asyncio.run(read_state(WorkerSettings(settings)))
        worker.ask("DELETE", "/connectors/r")
    assert refused[0] == 400
    assert "Invalid value ${env:SHOP_FILE} for configuration tasks.max" in str(refused[1])
    assert state.tasks["p"][0]["file"] == state.configs["p"]["file"] == "${env:SHOP_FILE}"
    assert "${env:SHOP_FILE}/x" in str(shown[-1])
    for text in (json.dumps(shown), json.dumps(checked), str(refused), caplog.text):
        assert "hidden-words" not in text


def offsets(answer: object) -> object:
    assert isinstance(answer, dict)
    return answer["offsets"]
