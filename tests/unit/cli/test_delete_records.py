"""Delete records before an offset; layouts are in the transcripts."""

from pathlib import Path

from unit.cli.command import run


def test_a_partition_that_is_not_there_has_its_error(bootstrap: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text('{"partitions": [{"topic": "nope", "partition": 0, "offset": 1}]}')
    done = run("delete-records", bootstrap, "--offset-json-file", str(file))
    assert done.code == 0
    assert "partition: nope-0\terror: " in done.stdout
