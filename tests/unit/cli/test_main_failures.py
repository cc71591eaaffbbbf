"""Whatever goes wrong is told in one line, and a closed pipe is no failure."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import moldau
from moldau.cli.main import run as run_command
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run
from unit.cli.dumping.test_segment import batch

SOURCES = Path(moldau.__file__).parents[1]
DEADLINE_S = 60


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `moldau` is ours."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line.replace("moldau", f"{sys.executable} -m moldau")],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


WRONG = {
    "topics --describe --topic [a": "[a is no regular expression",
    "get-offsets --topic [a": "[a is no regular expression",
    "get-offsets --topic-partitions [a:0": "[a is no regular expression",
    "console-consumer --include [a": "[a is no regular expression",
    "console-producer --topic t --producer-property linger.ms=abc": "linger.ms",
    "console-producer --topic t --request-timeout-ms -1": "request.timeout.ms",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_given_wrongly_is_told_in_one_line(bootstrap: str, line: str) -> None:
    command, *options = line.split()
    done = run(command, bootstrap, *options)
    told = done.stderr.replace("Processed a total of 0 messages\n", "")
    assert (done.code, told.count("\n")) == (1, 1), told
    assert WRONG[line] in told


WAITING = (
    "topics --list --bootstrap-server 127.0.0.1:1",
    "console-consumer --topic t --bootstrap-server 127.0.0.1:1",
    "console-producer --topic t --bootstrap-server 127.0.0.1:1",
    "cat -b 127.0.0.1:1 -L",
)


@pytest.mark.parametrize("line", WAITING)
def test_a_broker_that_is_not_up_is_waited_for_until_ctrl_c(line: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "moldau", *line.split()],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=DEADLINE_S)
    assert told == (
        "no broker could be reached; tried 127.0.0.1:1: Connection refused; "
        "trying again for up to 60 s\n"
    )
    assert process.returncode == 130
    assert rest.replace("Processed a total of 0 messages\n", "") == ""


@pytest.mark.parametrize("line", WAITING)
def test_a_wrong_name_is_told_at_once(line: str) -> None:
    command, *options = line.replace("127.0.0.1:1", "no-such-host.invalid:9092").split()
    done = run(command, *options)
    told = done.stdout + done.stderr.replace("Processed a total of 0 messages\n", "")
    assert (done.code, told.count("\n")) == (1, 1), told
    assert "no address in bootstrap.servers can be resolved: no-such-host.invalid:9092" in told


@pytest.mark.parametrize("options", [("-C", "-c", "x"), ("-C", "-p", "x"), ("-P", "-p", "x")])
def test_letters_that_need_numbers_say_so(broker: EmbeddedBroker, options: Sequence[str]) -> None:
    run("cat", "-b", broker.bootstrap_servers, "-t", "t", "-P", stdin="a\n")
    done = run("cat", "-b", broker.bootstrap_servers, "-t", "t", *options, stdin="a\n")
    assert (done.code, done.stderr) == (1, f"{options[1]} x: a number is expected\n")


def test_what_nobody_foresaw_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def ends(how: Exception) -> int:
        def command(_: Sequence[str]) -> int:
            raise how

        return run_command(command, [])

    assert ends(ValueError("odd")) == 1
    assert ends(FileNotFoundError(2, "No such file or directory", "/nope")) == 1
    assert ends(ConnectionResetError("gone")) == 1
    reasons = ("odd", "/nope: No such file or directory", "gone")
    assert capsys.readouterr().err == "".join(f"Error: {reason}\n" for reason in reasons)


@pytest.mark.parametrize(
    "line",
    [
        "topics --zookeeper 127.0.0.1:1 --list",
        "configs --zookeeper 127.0.0.1:1 --describe --entity-type topics",
        "zookeeper-shell 127.0.0.1:1 ls /",
    ],
)
def test_no_zookeeper_is_told_in_one_line(line: str) -> None:
    done = shell(f"moldau {line}")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "Failed to connect to ZooKeeper at 127.0.0.1:1: connection refused; a broker without"
    )
    assert done.stderr.count("\n") == 1


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(b"".join(batch(number, b"x" * 50) for number in range(400)))
    for line in ("moldau topics --help", f"moldau dump-log --files {log}"):
        done = shell(f"{line} >/dev/full")
        assert (done.returncode, done.stderr) == (1, "Error: No space left on device\n")


def test_whoever_reads_may_stop(bootstrap: str, tmp_path: Path) -> None:
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(b"".join(batch(number, b"x" * 50) for number in range(4000)))
    done = shell(f"moldau dump-log --print-data-log --files {log} | head -1")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Dumping {log}\n", "")
    done = shell(f"moldau verifiable-producer {bootstrap} --topic pipe | head -1")
    assert (done.returncode, done.stderr) == (0, "")
    done = shell(
        f"moldau verifiable-consumer {bootstrap} --topic pipe --group-id p --verbose | head -1"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (("verifiable-producer",), signal.SIGINT),
        (("verifiable-producer", "--throughput", "0.01"), signal.SIGTERM),
        (("verifiable-consumer", "--group-id", "s"), signal.SIGINT),
    ],
)
def test_what_is_stopped_says_how_far_it_came(
    bootstrap: str, command: Sequence[str], number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "moldau", *command, bootstrap, "--topic", "stop"],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(2)]
        process.send_signal(number)
        assert process.stderr is not None
        rest, errors = process.stdout.read(), process.stderr.read()
    assert '"name":"startup_complete"' in first[0]
    lines = rest.splitlines()
    ends = ["shutdown_complete"]
    if command[0] == "verifiable-producer":
        ends.append("tool_data")
        acked = sum("producer_send_success" in line for line in [*first, *lines])
        assert f'"sent":{acked},"acked":{acked},' in lines[-1]
    assert [json.loads(line)["name"] for line in lines[-len(ends) :]] == ends
    assert (process.returncode, errors) == (128 + number, "")
