"""Certificates for one's own machines."""

import sys
from pathlib import Path

import pytest

from moldau.security.distinguished_names import alternative_names, subject_name
from moldau.security.key_stores import read_key_store
from unit.cli.command import run


def test_an_authority_a_broker_and_its_settings_without_any_option(tmp_path: Path) -> None:
    made = run("certificates", "make", str(tmp_path / "new"))
    assert made.code == 0
    files = {each.name: each.stat().st_mode & 0o777 for each in (tmp_path / "new").iterdir()}
    assert sorted(files) == ["broker-localhost.pem", "ca-key.pem", "ca.pem"]
    assert files["ca-key.pem"] == files["broker-localhost.pem"] == 0o600
    assert f"ssl.keystore.location={tmp_path}/new/broker-localhost.pem" in made.stdout
    own = read_key_store(str(tmp_path / "new" / "broker-localhost.pem")).own_certificate
    assert subject_name(own) == "CN=localhost"
    assert len(alternative_names(own)) == 3


def test_more_are_certified_later_by_the_same_authority(tmp_path: Path) -> None:
    brokers = ("--broker", "a.example,10.0.0.1", "--broker", "::1")
    assert run("certificates", "make", str(tmp_path), *brokers).code == 0
    trusted = (tmp_path / "ca.pem").read_text()
    assert run("certificates", "make", str(tmp_path), "--client", "anna").code == 0
    assert (tmp_path / "ca.pem").read_text() == trusted
    names = sorted(each.name for each in tmp_path.glob("*-*.pem"))
    assert names == ["broker-__1.pem", "broker-a.example.pem", "ca-key.pem", "client-anna.pem"]


def test_what_is_there_is_replaced_only_when_told_to(tmp_path: Path) -> None:
    make = ("certificates", "make", str(tmp_path), "--client", "anna")
    run(*make)
    before = (tmp_path / "client-anna.pem").read_text()
    refused = run(*make)
    assert (refused.code, "--replace" in refused.stderr) == (1, True)
    assert (tmp_path / "client-anna.pem").read_text() == before
    assert run(*make, "--replace").code == 0
    assert (tmp_path / "client-anna.pem").read_text() != before


def test_an_authority_without_its_key_certifies_nobody(tmp_path: Path) -> None:
    run("certificates", "make", str(tmp_path))
    (tmp_path / "ca-key.pem").unlink()
    failed = run("certificates", "make", str(tmp_path), "--client", "anna")
    assert (failed.code, "ca-key.pem" in failed.stderr) == (1, True)


@pytest.mark.parametrize(
    "options", [("--client", "../x"), ("--client", ""), ("--broker", "a,,b"), ("--days", "0")]
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: tuple[str, str]) -> None:
    with pytest.raises(SystemExit):
        run("certificates", "make", str(tmp_path), *options)
    assert not list(tmp_path.iterdir())


def test_without_the_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "moldau.security.certificate_authority", None)
    failed = run("certificates", "make", str(tmp_path))
    assert (failed.code, "moldau[tls]" in failed.stderr) == (1, True)
