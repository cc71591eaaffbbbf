"""What converters with a schema registry share: its address, and whose fault an error is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from moldau.client.registry import Registry, RegistryAccess, RegistryError
from moldau.connect.config.values import flag, required
from moldau.connect.errors import ConfigError, DataError, RetriableConnectError

_URL, _CREDENTIALS = "schema.registry.url", "basic.auth.user.info"
_UNAVAILABLE = 500


def registry_of(settings: Mapping[str, str]) -> Registry:
    """The registry that a converter's settings name, by the names of Java's settings."""
    url = required(settings, _URL).split(",")[0].strip()
    scheme, found, rest = url.partition("://")
    login = settings.get(_CREDENTIALS) or settings.get(f"schema.registry.{_CREDENTIALS}")
    if login and found and "@" not in rest:
        user, _, password = login.partition(":")
        url = f"{scheme}://{_quoted(user)}:{_quoted(password)}@{rest}"
    try:
        return Registry(
            url,
            auto_register=flag(settings, "auto.register.schemas", default=True),
            use_latest=flag(settings, "use.latest.version", default=False),
            access=RegistryAccess(
                settings.get("bearer.auth.token", ""),
                settings.get("schema.registry.ssl.truststore.location"),
            ),
        )
    except ValueError as error:
        raise ConfigError(f"{_URL}: it is no address of a registry: http://host:port") from error


@contextmanager
def registry_errors(doing: str) -> Iterator[None]:
    """A registry that does not answer may do so later; what it refuses is the record's fault."""
    try:
        yield
    except RegistryError as error:
        if not error.code or _status(error.code) >= _UNAVAILABLE:
            raise RetriableConnectError(f"{doing}: {error}") from error
        raise DataError(f"{doing}: {error}") from error
    except ValueError as error:
        raise DataError(f"{doing}: {error}") from error


def _status(code: int) -> int:
    """Codes of five digits begin with HTTP's."""
    return code // 100 if code > 999 else code


def _quoted(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())
