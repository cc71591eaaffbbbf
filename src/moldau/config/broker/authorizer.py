"""Settings of the authorizer, which Kafka's brokers hand over to it and do not know themselves."""

from collections.abc import Iterator, Mapping

from moldau.config.broker.broker import BrokerConfig, broker_settings
from moldau.config.definition import Area, boolean, read, settings_of, string
from moldau.config.values import config_error

_PREFIX = "authorizer."
_OTHER_NAMES = {"zookeeper.url": "zookeeper.connect"}


class AuthorizerConfig(Area):
    """Who needs no rules."""

    super_users: str = string(
        "", "Principals that may do everything, such as `User:admin`, separated by `;`."
    )
    allow_everyone_if_no_acl_found: bool = boolean(
        False, "Whether everyone may use a resource that no access rule is about."
    )

    @property
    def super_user_names(self) -> Iterator[str]:
        """Each of them; names of certificates contain commas."""
        return filter(None, map(str.strip, self.super_users.split(";")))


def read_authorizer(config: BrokerConfig, texts: Mapping[str, str]) -> AuthorizerConfig | None:
    """The settings of the authorizer, None if there is none; raises InvalidConfig."""
    if not config.security.authorizer_class_name:
        return None
    for name, text in texts.items():
        if name.startswith(f"{_PREFIX}zookeeper."):
            _check_same(name, text, config)
    return read(AuthorizerConfig, texts)


def is_of_authorizer(name: str) -> bool:
    """Whether a setting is one of the authorizer's."""
    return name in settings_of(AuthorizerConfig) or name.startswith(f"{_PREFIX}zookeeper.")


def _check_same(name: str, text: str, config: BrokerConfig) -> None:
    """Rules are kept where all else is: another place would be an empty one."""
    own = name.removeprefix(_PREFIX)
    own = _OTHER_NAMES.get(own, own)
    setting = broker_settings().get(own)
    if setting is None or setting.parse(text) != config.value(own):
        raise config_error(f"{name}: access rules are kept where {own} says; remove the setting")
