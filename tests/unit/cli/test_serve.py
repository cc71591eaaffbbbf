"""Start a broker, with a configuration file or without any."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from moldau.cli import serve
from moldau.testing.wire import WireClient
from unit.cli.serving import SOURCES, served
from unit.testing.requests import batch, metadata, produce


@pytest.fixture(autouse=True)
def _logging_stays_with_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "start_log", lambda _: None)


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert serve.main(arguments) == 1
    message = capsys.readouterr().err.strip()
    assert "\n" not in message
    return message


def test_without_configuration_it_serves_and_keeps_its_data(tmp_path: Path) -> None:
    with served("--port", "0", home=tmp_path) as running:
        address = running.bootstrap_servers
        running.line(r"\[KafkaServer id=0\] started \(kafka\.server\.KafkaServer\)")
        with WireClient(address) as client:
            client.ask(metadata("orders"))
            client.ask(produce("orders", batch(b"a")))
        assert running.end(signal.SIGTERM) == 0
    assert (tmp_path / "moldau" / "orders-0").is_dir()
    assert (tmp_path / "moldau" / ".kafka_cleanshutdown").exists()
    for path in (tmp_path / "moldau", tmp_path / "moldau" / "orders-0"):
        assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly_and_the_log_says_so(
    tmp_path: Path, number: signal.Signals
) -> None:
    with served("--port", "0", home=tmp_path) as running:
        running.line("started")
        assert running.end(number) == 0
        running.line(f"received {number.name}")
        running.line(r"\[KafkaServer id=0\] shutting down")
        running.line(r"\[KafkaServer id=0\] shut down completed: 0 logs are on disk and closed")
    assert (tmp_path / "moldau" / ".kafka_cleanshutdown").exists()


def settings_of(*arguments: str) -> dict[str, str]:
    return serve.settings(serve._parser().parse_args(arguments))


@pytest.mark.parametrize(
    ("arguments", "listener"),
    [
        ("", "PLAINTEXT://localhost:9092"),
        ("--port 0", "PLAINTEXT://localhost:0"),
        ("--host 0.0.0.0", "PLAINTEXT://:9092"),
        ("--host :: --port 7", "PLAINTEXT://:7"),
        ("--host ::1", "PLAINTEXT://[::1]:9092"),
        ("--host broker-1 --port 7", "PLAINTEXT://broker-1:7"),
        ("--override listeners=PLAINTEXT://:9", "PLAINTEXT://:9"),
        ("--port 7 --override listeners=PLAINTEXT://:9", "PLAINTEXT://:9"),
        # Whoever is in a cluster, or advertises an address, wants to be reached, as with Kafka.
        ("--override zookeeper.connect=zookeeper:2181", None),
        ("--override advertised.listeners=PLAINTEXT://broker-1:9092", None),
        ("--port 7 --override zookeeper.connect=zookeeper:2181", "PLAINTEXT://:7"),
        ("--advertised-host broker-1", None),
        ("--advertised-host broker-1 --port 7", "PLAINTEXT://:7"),
    ],
)
def test_without_a_word_about_addresses_it_listens_to_this_machine_alone(
    arguments: str, listener: str | None
) -> None:
    assert settings_of(*arguments.split()).get("listeners") == listener


@pytest.mark.parametrize(
    ("arguments", "advertised"),
    [
        ("--advertised-host broker-1", "PLAINTEXT://broker-1:9092"),
        ("--advertised-host broker-1 --host 10.0.0.7 --port 7", "PLAINTEXT://broker-1:7"),
        ("--advertised-host b --override listeners=A://:9,B://:10", "A://b:9,B://b:10"),
        ("--host 10.0.0.7", None),
    ],
)
def test_one_broker_advertises_the_host_that_is_given(
    arguments: str, advertised: str | None
) -> None:
    assert settings_of(*arguments.split()).get("advertised.listeners") == advertised


def test_a_file_is_kafkas_and_so_is_what_it_does_not_say(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("broker.id=7\n")
    assert "listeners" not in settings_of(str(file))
    assert settings_of(str(file), "--port", "7")["listeners"] == "PLAINTEXT://:7"
    assert settings_of(str(file), "--host", "localhost")["listeners"].endswith("localhost:9092")
    file.write_text("listeners=PLAINTEXT://10.0.0.7:9092\n")
    assert settings_of(str(file))["listeners"] == "PLAINTEXT://10.0.0.7:9092"


def test_data_that_nobody_has_a_place_for_is_kept_where_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    lasting = str(tmp_path / "moldau")
    file = tmp_path / "server.properties"
    file.write_text("broker.id=7\n")
    assert settings_of()["log.dirs"] == settings_of(str(file))["log.dirs"] == lasting
    shipped = Path(__file__).parents[3] / "config" / "server.properties"
    assert settings_of(str(shipped))["log.dirs"] == lasting, "as the README says"
    assert settings_of("--data", "/a")["log.dirs"] == "/a"
    assert "log.dirs" not in settings_of("--override", "log.dir=/a")
    file.write_text("log.dir=/a\n")
    assert "log.dirs" not in settings_of(str(file))
    assert settings_of(str(file), "--data", "/b")["log.dirs"] == "/b"


def test_data_that_apache_kafka_would_find_is_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.properties"
    file.write_text("broker.id=7\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    kafkas = tmp_path / "kafka-logs"
    monkeypatch.setattr(serve, "_KAFKAS_DIRECTORY", str(kafkas))
    assert serve.unused_data(settings_of(str(file))) is None
    kafkas.mkdir()
    (kafkas / "meta.properties").touch()
    warning = serve.unused_data(settings_of(str(file)))
    assert warning == (
        f"{kafkas} has data and is not used, since log.dirs is not set: it is kept in "
        f"{tmp_path}/moldau. To use the other: log.dirs={kafkas}"
    )
    assert serve.unused_data(settings_of(str(file), "--data", "/a")) is None


def test_a_user_without_a_home_is_asked_for_a_directory(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that runs under a number that nobody has."""

    def unknown(number: int) -> None:
        raise KeyError(number)

    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert "name a directory with --data" in fails(capsys)
    with pytest.raises(SystemExit) as ended:
        serve.main(["--help"])
    assert ended.value.code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="others have only one loopback address")
def test_nobody_else_can_connect_and_the_log_says_how_to_change_that(tmp_path: Path) -> None:
    with served("--port", "0", "--metrics-port", "0", home=tmp_path) as running:
        metrics = running.line(r"http://localhost:(\d+)/metrics.*--metrics-host 0\.0\.0\.0")[1]
        port = running.line(r"listening on port (\d+) \(PLAINTEXT\) of localhost")[1]
        running.line(r"only this machine can connect; --host 0\.0\.0\.0")
        running.line("started")
        for each in (port, metrics):
            for address in ("127.0.0.1", "::1"):
                socket.create_connection((address, int(each))).close()
            # Stands for the machine's other addresses, of which a test machine may have none.
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", int(each)))


@pytest.mark.skipif(sys.platform != "linux", reason="others have only one loopback address")
def test_whoever_asks_for_it_lets_others_in(tmp_path: Path) -> None:
    everywhere = ("--host", "0.0.0.0", "--metrics-host", "0.0.0.0")
    with served("--port", "0", "--metrics-port", "0", *everywhere, home=tmp_path) as running:
        metrics = running.line(r"http://\S+:(\d+)/metrics")[1]
        port = running.line(r"listening on port (\d+) \(PLAINTEXT\) of all addresses")[1]
        running.line("started")
        for each in (port, metrics):
            for address in ("127.0.0.2", "::1"):
                socket.create_connection((address, int(each))).close()
    assert not any("only this machine" in line for line in running.lines)


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    with served("--port", "0", home=tmp_path) as running:
        running.line("started")
        # Both are pending before the first is handled, or the first stop was quick.
        running.process.send_signal(signal.SIGTERM)
        running.line("shutting down")
        assert running.end(signal.SIGTERM) in (0, -signal.SIGTERM)


HANGS_WHEN_STOPPED = """
import asyncio
from contextlib import asynccontextmanager
from moldau.cli import serve

@asynccontextmanager
async def hanging(startup, options):
    print("started", flush=True)
    yield
    print("stopping", flush=True)
    await asyncio.Event().wait()

serve._running = hanging
options = serve._parser().parse_args([])
asyncio.run(serve._serve(None, options, lambda: None))
"""


def test_a_second_signal_ends_a_stop_that_hangs() -> None:
    command = [sys.executable, "-c", HANGS_WHEN_STOPPED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in ("started\n", "stopping\n"):
                assert process.stdout.readline() == line
                process.send_signal(signal.SIGTERM)
            assert process.wait(30) == -signal.SIGTERM
        finally:
            process.kill()


def test_a_file_and_overrides_are_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    file = tmp_path / "server.properties"
    file.write_text(f"log.dirs={data}\nlisteners=PLAINTEXT://127.0.0.1:0\nbroker.id=7\n")
    with served(str(file), "--override", "broker.id=9", home=tmp_path) as running:
        running.line(r"\[KafkaServer id=9\] started")
        assert running.end(signal.SIGTERM) == 0
    assert (data / "meta.properties").exists()


def test_metrics_are_served_beside(tmp_path: Path) -> None:
    with served("--port", "0", "--metrics-port", "0", home=tmp_path) as running:
        page = running.line(r"(http://\S+/metrics)")[1]
        running.line("started")
        with urllib.request.urlopen(page) as response:
            text = response.read().decode()
        assert "kafka_controller_kafkacontroller_activecontrollercount 1" in text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/health/ready"])
def test_a_broker_that_serves_says_that_it_is_well(tmp_path: Path, path: str) -> None:
    with served("--port", "0", "--metrics-port", "0", home=tmp_path) as running:
        page = running.line(r"(http://\S+)/metrics")[1]
        running.line("started")
        with urllib.request.urlopen(page + path) as response:
            assert (response.status, response.read()) == (200, b"ok\n")


NEVER_STARTS = """
import asyncio, sys
from contextlib import asynccontextmanager
from moldau.broker import main
from moldau.cli import serve

@asynccontextmanager
async def starting(startup, ports):
    await asyncio.Event().wait()
    yield

main.running = starting
serve.main(sys.argv[1:])
"""


def test_while_it_starts_it_is_alive_and_not_ready(tmp_path: Path) -> None:
    command = [sys.executable, "-c", NEVER_STARTS]
    command += ["--port", "0", "--data", str(tmp_path), "--metrics-port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = (re.search(r"(http://\S+)/metrics", line) for line in process.stderr)
            page = next(match[1] for match in found if match)
            assert urllib.request.urlopen(f"{page}/healthz").status == 200
            for path in ("/readyz", "/metrics"):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(page + path)
                assert refused.value.code == 503
                assert refused.value.read() == b"the broker is starting\n"
        finally:
            process.kill()


def test_an_idle_broker_is_small(tmp_path: Path) -> None:
    with served("--port", "0", home=tmp_path) as running:
        running.line("started")
        status = Path(f"/proc/{running.process.pid}/status")
        if not status.exists():
            pytest.skip("the system does not tell how much memory a process takes")
        resident_kb = int(re.findall(r"VmRSS:\s+(\d+) kB", status.read_text())[0])
    assert resident_kb < 60 * 1024


def test_a_start_loads_nothing_that_only_some_need() -> None:
    heavy = ("pyarrow", "pyspark", "kazoo", "cython", "moldau.log.cleaner", "moldau.client")
    code = f"import sys, moldau.broker.main; print([m for m in {heavy!r} if m in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_log_lines_can_be_json(tmp_path: Path) -> None:
    with served("--port", "0", "--log-format", "json", home=tmp_path) as running:
        line = running.line("started").string
    assert json.loads(line)["message"] == "[KafkaServer id=0] started"
