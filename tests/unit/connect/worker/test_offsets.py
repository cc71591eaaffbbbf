"""Offsets are shown, set and reset while a connector is stopped."""

from pathlib import Path

from unit.connect.started import StartedWorker, until


def test_a_source_begins_again_where_it_is_set_to(worker: StartedWorker, tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_text("one\ntwo\n")
    config = {"connector.class": "FileStreamSource", "file": str(source), "topic": "again"}
    worker.put("p-in", config)
    worker.put("p-out", {"connector.class": "FileStreamSink", "file": str(sink), "topics": "again"})
    until(lambda: sink.exists() and sink.read_text() == "one\ntwo\n")
    partition = {"filename": str(source)}
    wanted = {"offsets": [{"partition": partition, "offset": {"position": 4}}]}
    assert worker.ask("PATCH", "/connectors/p-in/offsets", wanted)[0] == 400
    worker.ask("PUT", "/connectors/p-in/stop")
    assert worker.ask("PATCH", "/connectors/p-in/offsets", wanted)[0] == 200
    assert worker.ask("GET", "/connectors/p-in/offsets") == (200, wanted)
    worker.ask("PUT", "/connectors/p-in/resume")
    until(lambda: sink.read_text() == "one\ntwo\ntwo\n", lambda: worker.states("p-in"))
    for name in ("p-in", "p-out"):
        worker.ask("DELETE", f"/connectors/{name}")


def test_what_is_no_offset_is_refused(worker: StartedWorker, tmp_path: Path) -> None:
    config = {"connector.class": "FileStreamSink", "file": str(tmp_path / "x"), "topics": "t"}
    worker.put("s", config)
    worker.ask("PUT", "/connectors/s/stop")
    place = {"kafka_topic": "t", "kafka_partition": 0}
    for partition, offset in (
        ({"kafka_topic": "t"}, None),
        ({**place, "kafka_partition": "x"}, None),
        (place, {"x": 1}),
        (place, {"kafka_offset": "x"}),
        (5, None),
    ):
        body = {"offsets": [{"partition": partition, "offset": offset}]}
        assert worker.ask("PATCH", "/connectors/s/offsets", body)[0] == 400
    worker.ask("DELETE", "/connectors/s")
