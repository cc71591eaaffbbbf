"""Passwords of users for SCRAM; set and shown with a real authenticator in conformance."""

from unit.cli.command import run


def test_a_password_must_be_there_and_somebodys(bootstrap: str) -> None:
    alter = ("configs", bootstrap, "--alter")
    done = run(*alter, "--user", "u", "--add-config", "SCRAM-SHA-256=[iterations=8192]")
    assert done.stderr == "You must specify a non-empty password with SCRAM-SHA-256\n"
    done = run(*alter, "--user", "u", "--add-config", "SCRAM-SHA-256=[iterations=x,password=y]")
    assert done.stderr == "SCRAM-SHA-256: iterations must be a number\n"
    done = run(*alter, "--user-defaults", "--add-config", "SCRAM-SHA-256=[password=y]")
    assert "is not allowed with SCRAM" in done.stderr


def test_a_cluster_without_passwords_has_none_to_show(bootstrap: str) -> None:
    done = run("configs", bootstrap, "--describe", "--user", "nobody")
    assert (done.code, done.stdout) == (0, "")
