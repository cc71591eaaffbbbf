"""Where the session of a run has its files; sessions themselves are begun in test_command."""

from pathlib import Path

import pytest

from moldau.spark.remote import NeedsDriver
from moldau.streams.run.session import log_directory, settings_with, spark_log, started_session


def test_files_are_beside_the_checkpoint_if_that_is_here() -> None:
    assert log_directory("app", "/data/app") == Path("/data/app")
    assert spark_log("app", "file:///data/app") == Path("/data/app/spark.log")
    assert spark_log("app", "s3a://bucket/app") == Path(".moldau/app/spark.log")


def test_only_checkpoints_on_this_machine_are_written_in_another_way_than_sparks_own() -> None:
    name = "spark.sql.streaming.checkpointFileManagerClass"
    assert settings_with("/data/app")[name].endswith(".FileSystemBasedCheckpointFileManager")
    assert name not in settings_with("s3a://bucket/app")


def test_a_server_of_connect_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(NeedsDriver, match="Give a master like"):
        started_session("app", str(tmp_path / "checkpoint"), "sc://localhost", {})
    assert not (tmp_path / "checkpoint").exists()
