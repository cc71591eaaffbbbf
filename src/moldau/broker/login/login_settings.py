"""How the settings of a listener say that its clients log in: mechanisms, users, bearer tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moldau.config.listener_settings import ListenerSettings
from moldau.config.values import config_error
from moldau.runtime.java_options import java_properties
from moldau.security.jaas import LoginModule, read_jaas_file, read_login_module
from moldau.security.scram import MECHANISMS as SCRAM
from moldau.security.zookeeper_login import FILE_PROPERTY

PLAIN = "PLAIN"
OAUTHBEARER = "OAUTHBEARER"
GSSAPI = "GSSAPI"
_OFFERED = (PLAIN, *SCRAM, OAUTHBEARER)
_KAFKA = "org.apache.kafka.common.security"
# Modules are known by name and never loaded: what a setting names must not run (CVE-2023-25194).
_MODULES = {
    PLAIN: f"{_KAFKA}.plain.PlainLoginModule",
    **dict.fromkeys(SCRAM, f"{_KAFKA}.scram.ScramLoginModule"),
    OAUTHBEARER: f"{_KAFKA}.oauthbearer.OAuthBearerLoginModule",
}
_SECURED_HANDLERS = tuple(
    f"{_KAFKA}.oauthbearer.{package}{name}"
    for package in ("", "secured.")
    for name in ("OAuthBearerValidatorCallbackHandler", "OAuthBearerLoginCallbackHandler")
)
_HANDLERS = ("sasl.server.callback.handler.class", "sasl.login.callback.handler.class")
_CLASSES = (*_HANDLERS, "sasl.client.callback.handler.class", "sasl.login.class")
_SECTION = "KafkaServer"
_USER = "user_"
_JAAS = "sasl.jaas.config"


@dataclass(frozen=True, slots=True)
class MechanismSettings:
    """One mechanism of a listener."""

    name: str
    reauthentication_ms: int
    options: Mapping[str, str] = field(repr=False)
    """Those of its login module."""
    has_module: bool

    @property
    def passwords(self) -> dict[str, str]:
        """The users of PLAIN."""
        return {
            name.removeprefix(_USER): password
            for name, password in self.options.items()
            if name.startswith(_USER)
        }


@dataclass(frozen=True, slots=True)
class LoginSettings:
    """How clients log in to one listener."""

    listener: str
    mechanisms: tuple[MechanismSettings, ...]
    frame_size_max: int

    def mechanism(self, name: str) -> MechanismSettings:
        return next(one for one in self.mechanisms if one.name == name)


def read_logins(settings: ListenerSettings) -> LoginSettings:
    """How clients of a SASL listener log in; InvalidConfig for what cannot be."""
    enabled = settings.value("sasl.enabled.mechanisms")
    size = settings.value("sasl.server.max.receive.size")
    assert isinstance(enabled, tuple)
    assert isinstance(size, int)
    _check_mechanisms(settings, enabled)
    for name in enabled:
        _check_classes(settings, name)
    return LoginSettings(
        settings.listener_name, tuple(_mechanism(settings, name) for name in enabled), size
    )


def _mechanism(settings: ListenerSettings, name: str) -> MechanismSettings:
    module = _login_module(settings, name)
    if name == PLAIN and module is None:
        where = settings.own_name(_JAAS, name)
        example = f'{_MODULES[name]} required user_anna="...";'
        raise config_error(f"{where}: PLAIN needs users, as in: {example}")
    reauthentication_ms = settings.value("connections.max.reauth.ms", name)
    assert isinstance(reauthentication_ms, int)
    return MechanismSettings(
        name,
        reauthentication_ms,
        {} if module is None else module.options,
        has_module=module is not None,
    )


def _check_mechanisms(settings: ListenerSettings, enabled: tuple[str, ...]) -> None:
    setting = "sasl.enabled.mechanisms"
    listener = settings.listener_name
    if settings.text(setting) is None:
        raise config_error(
            f"{setting}: Kafka's default, GSSAPI (Kerberos), is not available; set the mechanisms "
            f"of listener {listener}, for instance to SCRAM-SHA-512, and create users with "
            "kafka-configs.sh"
        )
    if not enabled:
        raise config_error(f"{setting}: listener {listener} needs one of {', '.join(_OFFERED)}")
    for name in enabled:
        if name == GSSAPI:
            raise config_error(
                f"{setting}: GSSAPI (Kerberos) is not available; clients of listener {listener} "
                f"can use {', '.join(_OFFERED)}"
            )
        if name not in _OFFERED:
            raise config_error(
                f"{setting}: there is no mechanism {name}, only {', '.join(_OFFERED)}"
            )


def _check_classes(settings: ListenerSettings, mechanism: str) -> None:
    """Refuse classes that would decide who gets in: they cannot be loaded."""
    for setting in _CLASSES:
        text = (settings.text(setting, mechanism) or "").strip()
        is_known = mechanism == OAUTHBEARER and setting in _HANDLERS and text in _SECURED_HANDLERS
        if text and not is_known:
            raise config_error(f"{setting}: Java classes cannot be loaded; remove the setting")


def _login_module(settings: ListenerSettings, mechanism: str) -> LoginModule | None:
    """What is set for this listener and mechanism, or stands in the login file."""
    where = settings.own_name(_JAAS, mechanism)
    text = settings.texts.get(where)
    if text is not None:
        return _checked(read_login_module(text, where), mechanism, where)
    path = java_properties().get(FILE_PROPERTY)
    if path is None:
        return None
    try:
        sections = read_jaas_file(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise config_error(f"{FILE_PROPERTY}: {path} cannot be read") from error
    modules = _section(sections, settings.listener_name)
    known = [_checked(one, None, path) for one in modules]
    return next((one for one in known if one.name == _MODULES[mechanism]), None)


def _section(
    sections: Mapping[str, tuple[LoginModule, ...]], listener: str
) -> tuple[LoginModule, ...]:
    return sections.get(f"{listener.lower()}.{_SECTION}") or sections.get(_SECTION) or ()


def _checked(module: LoginModule, mechanism: str | None, where: str) -> LoginModule:
    allowed = tuple(_allowed(mechanism))
    if module.name not in allowed:
        raise config_error(f"{where}: the login module must be {' or '.join(allowed)}")
    return module


def _allowed(mechanism: str | None) -> Iterator[str]:
    if mechanism is not None:
        yield _MODULES[mechanism]
    else:
        yield from dict.fromkeys(_MODULES.values())
