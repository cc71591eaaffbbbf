"""What can be asked of a worker is checked before it is written."""

from pathlib import Path

from unit.connect.started import StartedWorker, until

CONFIG = {"connector.class": "FileStreamSource", "topic": "operations"}


def test_a_restart_says_what_it_affects(worker: StartedWorker, tmp_path: Path) -> None:
    worker.put("o", {**CONFIG, "file": str(tmp_path / "in")})
    until(lambda: worker.states("o") == ["RUNNING", "RUNNING"])
    status, found = worker.ask("POST", "/connectors/o/restart?includeTasks=true")
    assert status == 202
    assert isinstance(found, dict)
    assert (found["connector"]["state"], found["tasks"][0]["state"]) == ("RESTARTING",) * 2
    until(lambda: worker.states("o") == ["RUNNING", "RUNNING"])
    assert worker.ask("POST", "/connectors/o/tasks/0/restart")[0] == 204
    assert worker.ask("POST", "/connectors/o/tasks/1/restart")[0] == 404
    worker.ask("DELETE", "/connectors/o")


def test_nothing_is_made_of_settings_that_are_wrong(worker: StartedWorker) -> None:
    for config, why in (
        ({"topic": "x"}, "contains no connector type"),
        ({**CONFIG, "name": "other"}, "doesn't match connector name in the URL"),
        ({**CONFIG, "tasks.max": "0"}, "Value must be at least 1"),
        ({**CONFIG, "connector.class": "x"}, "Failed to find any class"),
    ):
        status, answer = worker.ask("PUT", "/connectors/wrong/config", config)
        assert status == 400
        assert isinstance(answer, dict)
        assert why in answer["message"]
    assert worker.ask("GET", "/connectors/wrong")[0] == 404


def test_what_only_the_other_system_can_tell_is_asked_at_last(worker: StartedWorker) -> None:
    config = {
        "connector.class": "PostgresConnector",
        "topic.prefix": "p",
        "database.hostname": "/nowhere",
        "database.user": "u",
        "database.password": "s3cret",
        "database.dbname": "d",
    }
    path = "/connector-plugins/PostgresConnector/config/validate"
    for changed, (wanted, name) in (
        ({}, (1, "database.hostname")),
        ({"slot.name": "A"}, (1, "slot.name")),  # then the server is not asked
    ):
        status, found = worker.ask("PUT", path, {**config, **changed, "name": "c"})
        assert status == 200
        assert isinstance(found, dict)
        assert found["error_count"] == wanted
        (wrong,) = [each["value"] for each in found["configs"] if each["value"]["errors"]]
        assert wrong["name"] == name
        assert "s3cret" not in str(wrong)
    status, answer = worker.ask("PUT", "/connectors/wrong/config", config)
    assert status == 400
    assert "Error while validating connector config" in str(answer)
