"""Quotas of users, clients and addresses."""

from moldau.cli.config_entities.quotas import label
from unit.cli.command import run


def test_whom_a_quota_is_for() -> None:
    assert label((("client-id", "c"), ("user", None))) == (
        "the default user-principal, client-id 'c'"
    )


def test_a_quota_is_a_number(bootstrap: str) -> None:
    options = ("--alter", "--user-defaults", "--add-config", "producer_byte_rate=much")
    done = run("configs", bootstrap, *options)
    assert "Cannot parse quota configuration value for producer_byte_rate: much" in done.stderr


def test_the_default_of_all_users(bootstrap: str) -> None:
    options = ("--alter", "--user-defaults", "--add-config", "producer_byte_rate=9")
    done = run("configs", bootstrap, *options)
    assert done.stdout == "Completed updating default config for users in the cluster.\n"
    done = run("configs", bootstrap, "--describe", "--user-defaults")
    assert done.stdout == (
        "Quota configs for the default user-principal are producer_byte_rate=9.0\n"
    )
