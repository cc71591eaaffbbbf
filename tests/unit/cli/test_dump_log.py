"""Print what is in the files of a partition; Apache's output is compared in conformance."""

from pathlib import Path

from unit.cli.command import run
from unit.cli.dumping.test_segment import batch

NAME = "00000000000000000000"


def test_logs_of_other_clusters_are_refused() -> None:
    done = run("dump-log", "--files", "x.log", "--cluster-metadata-decoder")
    assert (done.code, "have no such log" in done.stderr) == (1, True)


def test_a_segment_is_dumped_with_what_is_odd_about_it(tmp_path: Path) -> None:
    file = tmp_path / f"{NAME}.log"
    file.write_bytes(batch(0, b"a") + batch(7, b"b") + b"half")
    done = run("dump-log", "--files", str(file), "--print-data-log")
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"Dumping {file}", "Log starting offset: 0"]
    assert lines[-1] == f"Found 4 invalid bytes at the end of {NAME}.log"
    assert lines[3].endswith("payload: a")
    assert done.stderr == f"Non-consecutive offsets in {file}\n  0 is followed by 7\n"


def test_indexes_are_dumped_checked_or_only_verified(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.log").write_bytes(batch(0, b"a"))
    index, times = tmp_path / f"{NAME}.index", tmp_path / f"{NAME}.timeindex"
    index.write_bytes((5).to_bytes(4, "big") + bytes(4))
    times.write_bytes((1700).to_bytes(8, "big") + bytes(4))
    files = f"{index},{times}"
    done = run("dump-log", "--files", files)
    assert "offset: 5 position: 0" in done.stdout
    assert "timestamp: 1700 offset: 0" in done.stdout
    assert "Index offset: 5, log offset: 0" in done.stderr
    done = run("dump-log", "--files", files, "--verify-index-only")
    assert done.stdout.count("\n") == 2
    done = run("dump-log", "--files", files, "--index-sanity-check")
    assert done.stdout.count("passed sanity check.") == 2


def test_files_that_are_none_of_a_partitions_are_told(tmp_path: Path) -> None:
    (tmp_path / "partition.metadata").touch()
    done = run("dump-log", "--files", f"{tmp_path}/partition.metadata")
    assert done.stderr == f"Ignoring unknown file {tmp_path}/partition.metadata\n"
    done = run("dump-log", "--files", f"{tmp_path}/odd.log")
    assert (done.code, "is not named after an offset" in done.stderr) == (1, True)
    done = run("dump-log", "--files", f"{tmp_path}/{NAME}.snapshot")
    assert (done.code, "No such file" in done.stderr) == (1, True)
    (tmp_path / f"{NAME}.snapshot").write_bytes(b"odd")
    done = run("dump-log", "--files", f"{tmp_path}/{NAME}.snapshot")
    assert (done.code, f"{NAME}.snapshot: " in done.stderr) == (0, True)


def test_an_unknown_decoder_is_named() -> None:
    done = run("dump-log", "--files", "x", "--value-decoder-class", "com.example.Avro")
    assert "there is no decoder com.example.Avro" in done.stderr
