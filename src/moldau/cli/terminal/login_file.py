"""The login that Java's clients take from a file which `KAFKA_OPTS` names."""

from collections.abc import Mapping

from moldau.cli.terminal.failure import CommandFailed
from moldau.errors import KafkaError
from moldau.runtime.java_options import java_properties

_FILE_PROPERTY = "java.security.auth.login.config"
_SECTION = "KafkaClient"
_SAID_OTHERWISE = ("sasl.jaas.config", "sasl.username", "sasl.oauthbearer.token")


def login_from_file(settings: Mapping[str, str]) -> dict[str, str]:
    """User and password for a client that logs in without having said as whom."""
    is_login = settings.get("security.protocol", "").upper().startswith("SASL")
    path = java_properties().get(_FILE_PROPERTY)
    if not is_login or path is None or any(name in settings for name in _SAID_OTHERWISE):
        return {}
    from moldau.security.jaas import read_jaas_file  # noqa: PLC0415 - seldom

    try:
        with open(path, encoding="utf-8") as file:
            modules = read_jaas_file(file.read(), path).get(_SECTION)
    except OSError as error:
        raise CommandFailed(f"KAFKA_OPTS: {path}: {error.strerror}") from error
    except KafkaError as error:
        raise CommandFailed(f"KAFKA_OPTS: {error}") from error
    if modules is None:
        raise CommandFailed(f"KAFKA_OPTS: {path} has no section {_SECTION}")
    return {
        f"sasl.{name}": value
        for name, value in modules[0].options.items()
        if name in ("username", "password", "tokenauth")
    }
