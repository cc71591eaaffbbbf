"""Partitions of a source are shared out among tasks."""

from pathlib import Path

from moldau.connect.worker.assembly import assemble
from moldau.connect.worker.plugins import Plugins


def test_there_are_no_more_tasks_than_partitions_but_as_many_of_a_sink_as_wanted(
    tmp_path: Path,
) -> None:
    config = {"file": str(tmp_path), "topic": "t", "tasks.max": "3"}
    source = assemble("a", Plugins().find("FileStreamSource"), config)
    assert source.shares == [[{"filename": str(tmp_path)}]]
    [task] = source.task_configs()
    assert task == {**config, "task.class": "org.apache.kafka.connect.file.FileStreamSourceTask"}
    sink = assemble("b", Plugins().find("FileStreamSink"), {"topics": "t", "tasks.max": "3"})
    assert len(sink.shares) == 3
