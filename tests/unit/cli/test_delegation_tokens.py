"""Create, renew, expire and show delegation tokens."""

from pathlib import Path

from moldau.cli.delegation_tokens import as_data, lines
from moldau.client.admin.tokens import DelegationToken
from unit.cli.command import run


def test_tokens_are_shown_in_a_table() -> None:
    token = DelegationToken("id", b"\1", "User:o", "User:r", 0, 0, 0, ["User:a", "User:b"])
    title, row = lines([token])
    assert title.split()[:3] == ["TOKENID", "HMAC", "OWNER"]
    assert row.split()[:6] == ["id", "AQ==", "User:o", "User:r", "[User:a,", "User:b]"]
    assert as_data(token)["renewers"] == ["User:a", "User:b"]
    assert as_data(token)["hmac"] == "AQ=="


def test_what_must_be_said_is_asked_for(bootstrap: str, tmp_path: Path) -> None:
    assert "exactly one action" in run("delegation-tokens").stderr
    done = run("delegation-tokens", bootstrap, "--describe")
    assert done.stderr == 'Missing required argument "[command-config]"\n'
    file = tmp_path / "client.properties"
    file.touch()
    config = ("--command-config", str(file))
    done = run("delegation-tokens", bootstrap, *config, "--renew", "--hmac", "AQ==")
    assert done.stderr == 'Missing required argument "[renew-time-period]"\n'
    renew = ("--renew", "--hmac", "%", "--renew-time-period", "1")
    assert "in base64" in run("delegation-tokens", bootstrap, *config, *renew).stderr


def test_a_cluster_without_tokens_says_so(bootstrap: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.touch()
    for options in (
        ("--describe",),
        ("--create", "--max-life-time-period", "-1"),
        ("--renew", "--hmac", "AQ==", "--renew-time-period", "1"),
        ("--expire", "--hmac", "AQ==", "--expiry-time-period", "-1"),
    ):
        done = run("delegation-tokens", bootstrap, "--command-config", str(file), *options)
        assert (done.code, done.stderr.count("\n")) == (1, 1)
        assert done.stdout.startswith("Calling ")
        assert run(
            "delegation-tokens", bootstrap, "--command-config", str(file), *options, "--format=json"
        ) == (1, "", done.stderr)
