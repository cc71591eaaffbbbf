"""Settings of topics, brokers and their loggers."""

from moldau.cli.config_entities.settings import line
from moldau.client.admin.configs import ConfigEntry, ConfigSource, ConfigSynonym
from unit.cli.command import run


def test_a_secret_has_no_value() -> None:
    entry = ConfigEntry(
        "password",
        None,
        ConfigSource.STATIC_BROKER,
        is_read_only=True,
        is_sensitive=True,
        synonyms=[ConfigSynonym("password", None, ConfigSource.STATIC_BROKER)],
        documentation=None,
    )
    expected = "password=null sensitive=true synonyms={STATIC_BROKER_CONFIG:password=null}"
    assert line(entry) == expected


def test_all_brokers_and_their_default_are_described(bootstrap: str) -> None:
    done = run("configs", bootstrap, "--describe", "--entity-type", "brokers")
    assert done.stdout == (
        "Dynamic configs for broker 0 are:\nDefault configs for brokers in the cluster are:\n"
    )
    done = run("configs", bootstrap, "--describe", "--entity-type", "client-metrics")
    assert (done.code, "an entity name must be specified" in done.stderr) == (1, True)
