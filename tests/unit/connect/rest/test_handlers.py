"""Questions that the recorded calls do not ask; those are in tests/conformance."""

from unit.connect.started import StartedWorker

CONFIG = {"connector.class": "FileStreamSink", "file": "x", "topics": "t"}


def test_plugins_of_all_kinds_have_definitions(worker: StartedWorker) -> None:
    for name, setting in (("FileStreamSink", "file"), ("JsonConverter", "converter.type")):
        status, found = worker.ask("GET", f"/connector-plugins/{name}/config")
        assert status == 200
        assert isinstance(found, list)
        assert found[0]["name"] == setting
    assert worker.ask("GET", "/connector-plugins/Nope/config")[0] == 404


def test_bodies_that_are_no_objects_of_texts_are_refused(worker: StartedWorker) -> None:
    bodies: list[object] = [[], {"a": {"b": 1}}]
    for body in bodies:
        assert worker.ask("PUT", "/connectors/x/config", body)[0] == 400
    assert worker.ask("POST", "/connectors", {"name": 5, "config": CONFIG})[0] == 400
    assert worker.ask("PUT", "/admin/loggers/x", {"level": 5})[0] == 400


def test_topics_are_not_tracked_unless_wanted(worker: StartedWorker) -> None:
    assert worker.ask("GET", "/connectors/none/topics") == (200, {"none": {"topics": []}})
    assert worker.ask("PUT", "/connectors/none/topics/reset")[0] == 202
