"""What connectors do can be seen in Prometheus' format."""

from dataclasses import dataclass, field
from pathlib import Path

from moldau.connect.storage.records import Status
from moldau.connect.worker.figures import ConnectorFigures, metrics_of
from unit.connect.started import StartedWorker, until


@dataclass
class Running:
    kind: str = "source"
    status: Status = field(default_factory=lambda: Status("RUNNING", "h:1"))
    task_statuses: dict[int, Status] = field(
        default_factory=lambda: {0: Status("RUNNING", "h:1"), 1: Status("FAILED", "h:1", "why")}
    )
    figures: ConnectorFigures = field(default_factory=ConnectorFigures)


def test_states_and_numbers_are_metrics() -> None:
    running = Running()
    running.figures.add(0, 3, {"slot_retained_bytes": 1000.0})
    running.figures.add(0, 4, {"slot_retained_bytes": 1020.0})
    running.figures.add(0, 0, {})
    running.figures.add(1, 0, {"slot_retained_bytes": 4.0})
    text = metrics_of({'a"b': running}).text()
    name = 'connector="a\\"b"'
    for line in (
        f'moldau_connect_connector_state{{{name},type="source",state="RUNNING"}} 1',
        f'moldau_connect_task_state{{{name},task="1",state="FAILED"}} 1',
        f"moldau_connect_records_total{{{name}}} 7",
        f"moldau_connect_task_failures_total{{{name}}} 0",
        f'moldau_connect_source_measurement{{{name},name="slot_retained_bytes"}} 1024',
    ):
        assert line in text.splitlines()
    assert "# TYPE moldau_connect_records_total counter" in text


def test_a_worker_serves_them(worker: StartedWorker, tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_text("one\ntwo\n")
    text = {"connector.class": "FileStreamSource", "file": str(source), "topic": "figures"}
    worker.put("g-in", text)
    sink_config = {"connector.class": "FileStreamSink", "file": str(sink), "topics": "figures"}
    worker.put("g-out", sink_config)
    until(lambda: sink.exists() and sink.read_text() == "one\ntwo\n")
    wanted = [f'moldau_connect_records_total{{connector="g-{each}"}} 2' for each in ("in", "out")]
    until(lambda: set(wanted) <= set(worker.text("/metrics").splitlines()))
    for name in ("g-in", "g-out"):
        worker.ask("DELETE", f"/connectors/{name}")
