"""Make a broker's data of a backup."""

from pathlib import Path

from moldau.testing.broker import running_broker
from moldau.testing.wire import WireClient
from unit.cli.command import run
from unit.testing.requests import batch, metadata, produce


def test_a_broker_that_has_stopped_goes_on_from_its_backup(tmp_path: Path) -> None:
    data, target, restored = (tmp_path / name for name in ("data", "backup", "restored"))
    data.mkdir()
    with running_broker(directory=data) as kafka, WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        client.ask(produce("orders", batch(b"a")))
        cluster_id = kafka.running.broker.cluster_id
    assert run("backup", "--data", str(data), "--to", str(target)).code == 0
    done = run("restore", "--from", str(target), "--data", str(restored))
    assert done.stdout.startswith(f"{restored}: ")
    with running_broker(directory=restored) as kafka:
        assert len(kafka.wait_for_records("orders", 1)[0]) == 1
        assert kafka.running.broker.cluster_id == cluster_id


def test_the_backup_has_to_be_named() -> None:
    assert run("restore").stderr == 'Missing required argument "[from]"\n'
