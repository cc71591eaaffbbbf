"""Where a group is to go on; layouts are in the transcripts."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from moldau.cli.groups.resetting import parse_datetime_ms, parse_duration, read_plan
from moldau.cli.terminal.failure import CommandFailed
from moldau.model import TopicPartition
from unit.cli.command import Done, run


def reset(bootstrap: str, *options: str) -> Done:
    return run("consumer-groups", bootstrap, "--reset-offsets", "--group", "g", *options)


def test_durations_are_as_in_iso_8601() -> None:
    assert parse_duration("P1DT2H3M4.5S") == timedelta(1, 4.5, hours=2, minutes=3)
    assert parse_duration("-PT1M") == timedelta(minutes=-1)
    for wrong in ("1h", "P", "PT"):
        with pytest.raises(CommandFailed, match="P1DT2H3M4S"):
            parse_duration(wrong)


def test_times_may_have_a_zone() -> None:
    assert parse_datetime_ms("1970-01-01T00:00:01.500+00:00") == 1500
    assert parse_datetime_ms("1970-01-01T01:00:00.000+01:00") == 0
    with pytest.raises(CommandFailed, match="should look like"):
        parse_datetime_ms("yesterday")


def test_a_plan_is_what_was_exported(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("a,0,5\n\ng,b,1,6\nh,c,2,7\n")
    assert read_plan(str(file), "g") == {TopicPartition("a", 0): 5, TopicPartition("b", 1): 6}
    file.write_text("a,b,c\n")
    with pytest.raises(CommandFailed, match="is not a plan"):
        read_plan(str(file), "g")
    with pytest.raises(CommandFailed, match="No such file"):
        read_plan(str(tmp_path / "missing"), "g")


def test_an_exported_plan_can_be_executed(bootstrap: str, tmp_path: Path) -> None:
    run("console-producer", bootstrap, "--topic", "t", stdin="x\ny\n")
    plan = reset(bootstrap, "--to-latest", "--topic", "t", "--dry-run", "--export").stdout
    assert plan == "t,0,2\n\n"
    file = tmp_path / "plan.csv"
    file.write_text(plan)
    done = reset(bootstrap, "--from-file", str(file), "--execute", "--format", "json")
    assert json.loads(done.stdout) == [{"group": "g", "topic": "t", "partition": 0, "offset": 2}]


def test_offsets_beyond_the_log_are_brought_back_with_a_warning(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "u", stdin="x\ny\n")
    done = reset(bootstrap, "--to-offset", "9", "--topic", "u", "--dry-run")
    assert "New offset (9) is higher than latest offset for topic partition u-0" in done.stderr
    assert done.stdout.split()[-1] == "2"
    done = reset(bootstrap, "--to-offset", "-9", "--topic", "u", "--dry-run")
    assert "lower than earliest" in done.stderr


def test_what_was_never_committed_cannot_be_shifted(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "v", stdin="x\n")
    done = reset(bootstrap, "--shift-by", "1", "--topic", "v", "--dry-run")
    assert "no current committed offset" in done.stderr


def test_a_time_after_all_records_is_the_end(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "w", stdin="x\n")
    done = reset(bootstrap, "--to-datetime", "2100-01-01T00:00:00", "--topic", "w", "--dry-run")
    assert "Falling back to latest known offset" in done.stderr
    assert done.stdout.split()[-1] == "1"
