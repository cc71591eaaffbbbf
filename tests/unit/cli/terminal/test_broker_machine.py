"""A broker's file and the machine are judged before the broker starts."""

import os
import re
import socket
from pathlib import Path

import pytest

from certificates import authority, identity
from conformance.apache.broker import free_port
from moldau.cli.terminal import broker_machine
from moldau.cli.terminal.broker_machine import (
    examine_file,
    log_directory,
    open_files,
    partition_count,
    zookeeper,
)
from moldau.client.admin.finding import Finding
from unit.cli.command import run


def file(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "server.properties"
    path.write_text("\n".join([f"log.dirs={tmp_path}/data", *lines]))
    return str(path)


def failures(findings: list[Finding]) -> list[str]:
    return [each.text for each in findings if not each.is_well]


def test_a_file_that_a_broker_can_run_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_machine, "open_files_max", lambda: 100_000)
    path = file(tmp_path, f"listeners=PLAINTEXT://127.0.0.1:{free_port()}")
    done = run("doctor", path)
    assert done.stdout.startswith(f"ok   {path} is a broker's file that can be started\n")
    assert "GiB free" in done.stdout
    assert "is free\n" in done.stdout


def test_what_blocks_a_start_is_found(tmp_path: Path) -> None:
    (found,) = examine_file(file(tmp_path, "process.roles=broker"))
    assert "a broker does not start with it" in found.text
    assert "process.roles" in found.text
    assert run("doctor", str(tmp_path / "none")).code == 1
    assert run("doctor", "one", "two").code == 1


BLOCKING = {
    "client.quota.callback.class": "org.example.Callback",
    "principal.builder.class": "org.example.Builder",
    "replica.selector.class": "org.example.Selector",
    "authorizer.class.name": "org.example.Authorizer",
    "config.providers": "file",
    "zookeeper.ssl.crl.enable": "true",
    "zookeeper.ssl.ocsp.enable": "true",
    "group.consumer.assignors": "org.example.Assignor",
    "inter.broker.protocol.version": "2.3",
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "zookeeper.metadata.migration.enable": "true",
    "remote.log.storage.system.enable": "true",
    "sasl.server.callback.handler.class": "org.example.Handler",
    "sasl.enabled.mechanisms": "GSSAPI",
}
SASL = (
    "listeners=SASL_PLAINTEXT://127.0.0.1:0",
    "security.inter.broker.protocol=SASL_PLAINTEXT",
    "sasl.enabled.mechanisms=SCRAM-SHA-512",
    "sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512",
)


@pytest.mark.parametrize("name", BLOCKING)
def test_every_setting_that_blocks_a_start_is_found(name: str, tmp_path: Path) -> None:
    before = [line for line in SASL if not line.startswith(name)] if "sasl." in name else []
    given = f"{name}={BLOCKING[name]}"
    path = file(tmp_path, "zookeeper.connect=127.0.0.1:1", *before, given)
    (found,) = examine_file(path)
    assert "a broker does not start with it" in found.text
    assert name in found.text


def test_the_page_about_migration_names_what_blocks_a_start() -> None:
    page = (Path(__file__).parents[4] / "docs" / "migration-brokers.md").read_text()
    table = page.partition("| What blocks a start |")[2].partition("\n\n")[0]
    names = {name.partition("=")[0] for name in re.findall(r"`([a-z.A-Z]+\.[a-z.A-Z]+)[`=]", table)}
    # Files are no settings; Kerberos is named by its mechanism, and broker.id is what is right.
    assert names - {"meta.properties", "broker.id"} == BLOCKING.keys() - {"sasl.enabled.mechanisms"}


def test_a_port_that_is_taken_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        findings = examine_file(file(tmp_path, f"listeners=PLAINTEXT://127.0.0.1:{port}"))
    taken = f"PLAINTEXT://127.0.0.1:{port} cannot be listened on: Address already in use"
    assert taken in failures(findings)


def test_an_advertised_name_that_is_unknown_is_found(tmp_path: Path) -> None:
    advertised = "advertised.listeners=PLAINTEXT://no-such-host.invalid:9092"
    path = file(tmp_path, f"listeners=PLAINTEXT://127.0.0.1:{free_port()}", advertised)
    assert any("no-such-host.invalid cannot" in each for each in failures(examine_file(path)))


def test_a_directory_that_cannot_be_written_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    (found,) = log_directory(str(tmp_path / "data" / "deeper"))
    assert found.text == f"{tmp_path} cannot be written by this user"
    assert found.advice.startswith("sudo chown ")


def test_a_limit_that_is_too_small_for_the_partitions_is_found(tmp_path: Path) -> None:
    for name in ("orders-0", "orders-1", "not a partition"):
        (tmp_path / name).mkdir()
    (tmp_path / "file-2").touch()
    assert partition_count(str(tmp_path)) == 2
    assert partition_count(str(tmp_path / "none")) == 0
    assert open_files(4096, 2).is_well
    assert not open_files(4095, 2).is_well
    assert not open_files(5999, 1000).is_well
    assert "LimitNOFILE" in open_files(5999, 1000).advice


def test_a_certificate_that_is_missing_is_found_and_a_good_one_shown(tmp_path: Path) -> None:
    listener = f"listeners=SSL://127.0.0.1:{free_port()}"
    inter = "security.inter.broker.protocol=SSL"
    path = file(tmp_path, listener, inter, f"ssl.keystore.location={tmp_path}/none.pem")
    assert any("none.pem" in each for each in failures(examine_file(path)))
    store = identity(authority(), "broker").write(tmp_path / "broker.pem")
    path = file(
        tmp_path, listener, inter, f"ssl.keystore.location={store}", "ssl.keystore.type=PEM"
    )
    shown = [each.text for each in examine_file(path)]
    assert any("the certificate of SSL://" in each and "valid until" in each for each in shown)


def test_a_zookeeper_that_is_away_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (found,) = zookeeper(f"127.0.0.1:{port}/kafka")
        assert found == Finding(True, f"ZooKeeper at 127.0.0.1:{port} can be reached")
    (found,) = zookeeper("127.0.0.1:1")
    assert not found.is_well
    assert list(zookeeper("")) == []
