"""Delete records before an offset; layouts are in the transcripts."""

import json
from pathlib import Path

from unit.cli.command import run


def test_a_partition_that_is_not_there_has_its_error(bootstrap: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text('{"partitions": [{"topic": "nope", "partition": 0, "offset": 1}]}')
    done = run("delete-records", bootstrap, "--offset-json-file", str(file))
    assert done.code == 0
    assert "partition: nope-0\terror: " in done.stdout


def test_what_became_of_each_is_told_in_json_too(bootstrap: str, tmp_path: Path) -> None:
    run("topics", bootstrap, "--create", "--topic", "short")
    run("console-producer", bootstrap, "--topic", "short", stdin="a\nb\n")
    file = tmp_path / "offsets.json"
    wanted = [{"topic": name, "partition": 0, "offset": 1} for name in ("short", "nope")]
    file.write_text(json.dumps({"partitions": wanted}))
    options = ("--offset-json-file", str(file), "--format", "json")
    short, nope = json.loads(run("delete-records", bootstrap, *options).stdout)
    assert (short["low_watermark"], short["error"]) == (1, None)
    assert (nope["low_watermark"], nope["topic"]) == (None, "nope")
