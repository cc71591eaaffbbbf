"""Options of logins and rules go together, or are refused."""

import argparse
from pathlib import Path

import pytest

from moldau.cli.terminal.console_logins import (
    add_login_options,
    kafka_logins_of,
    oidc_of,
    proxy_of,
    rules_of,
)
from moldau.cli.terminal.failure import CommandFailed
from moldau.console.access import Role

OIDC = ("--oidc", "https://login.example.org", "--oidc-client", "c", "--url", "https://c.example")


def given(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_login_options(parser)
    return parser.parse_args(arguments)


def test_nothing_is_asked_for_unless_it_is_named() -> None:
    options = given()
    assert proxy_of(options) is None
    assert oidc_of(options) is None
    assert rules_of(options).grants == ()
    assert not kafka_logins_of(options, {"local": {}})


def test_a_provider_needs_a_client_and_the_way_back(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    found = oidc_of(given(*OIDC, "--oidc-secret-file", str(tmp_path / "secret")))
    assert found is not None
    assert (found.client_secret, "s3cret" in repr(found)) == ("s3cret", False)
    for wrong in (OIDC[:2], OIDC[:4], OIDC[2:], (*OIDC[:5], "http://c.example")):
        with pytest.raises(CommandFailed, match="--oidc"):
            oidc_of(given(*wrong))
    with pytest.raises(CommandFailed, match="No such file"):
        oidc_of(given(*OIDC, "--oidc-secret-file", str(tmp_path / "none")))


def test_a_proxy_has_an_address() -> None:
    assert proxy_of(given("--trusted-proxy", "10.0.0.0/8")) is not None
    with pytest.raises(CommandFailed, match="--trusted-proxy: 'proxy'"):
        proxy_of(given("--trusted-proxy", "proxy"))


def test_rules_are_read_and_mistakes_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("[[role]]\nwho = ['anna']\nrole = 'admin'\n")
    assert rules_of(given("--rules", str(path))).grants[0].role is Role.ADMIN
    path.write_text("[[role]]\nwho = 'anna'\n")
    with pytest.raises(CommandFailed, match=r"rules\.toml: role 1: role is one of"):
        rules_of(given("--rules", str(path)))
    with pytest.raises(CommandFailed, match="No such file"):
        rules_of(given("--rules", str(tmp_path / "none")))


def test_passwords_of_kafka_need_a_cluster_that_takes_them_and_no_other_way() -> None:
    scram = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}
    asked = given("--kafka-logins")
    asked.users = asked.audit_topic = None
    assert kafka_logins_of(asked, {"one": scram})
    with pytest.raises(CommandFailed, match="cluster two needs"):
        kafka_logins_of(asked, {"one": scram, "two": {}})
    asked.audit_topic = "audit"
    with pytest.raises(CommandFailed, match="no login of its own"):
        kafka_logins_of(asked, {"one": scram})
    asked.users = "users"
    with pytest.raises(CommandFailed, match="no other way"):
        kafka_logins_of(asked, {"one": scram})
