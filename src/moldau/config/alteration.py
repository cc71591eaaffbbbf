"""Changes to dynamic settings: what IncrementalAlterConfigs asks for, and what is allowed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from moldau.config.broker.authorizer import is_of_authorizer
from moldau.config.broker.broker import broker_settings
from moldau.config.broker.checks import check_broker_config
from moldau.config.broker.dynamic import find_broker_setting
from moldau.config.definition import Setting, UpdateMode
from moldau.config.effective import BrokerLayers
from moldau.config.listeners import read_listeners
from moldau.config.synonyms import LISTENER_SETTING, base_name
from moldau.config.values import ConfigType, config_error
from moldau.errors import ErrorCode, KafkaError


class AlterOperation(IntEnum):
    """What to do with a setting, numbered as IncrementalAlterConfigs sends it."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One change to one setting."""

    name: str
    operation: AlterOperation
    value: str | None = None


def alter(
    current: Mapping[str, str], alterations: Iterable[Alteration], settings: Mapping[str, Setting]
) -> dict[str, str]:
    """The dynamic settings after the changes, whose values are not checked yet.

    `settings` are the known ones of this kind; a list's elements are added and taken away
    as whole texts, as Kafka does.
    """
    wanted = list(alterations)
    _check_complete(wanted)
    changed = dict(current)
    for alteration in wanted:
        _apply(changed, alteration, settings)
    return changed


def check_broker_overrides(layers: BrokerLayers, *, is_for_one_broker: bool) -> None:
    """Raise InvalidConfig if the dynamic settings of `layers` cannot be used together.

    Looks at the names in the layer that is being changed and at the values of all.
    """
    changed = layers.broker if is_for_one_broker else layers.cluster
    _refuse(changed, _is_static, "Cannot update these configs dynamically")
    _refuse(
        changed,
        lambda name: name in _ONLY_PER_LISTENER,
        "These security configs can be dynamically updated only per-listener "
        "using the listener prefix",
    )
    for name, text in changed.items():
        setting = find_broker_setting(name)
        if setting is not None:
            setting.parse(text)
    if not is_for_one_broker:
        _refuse(
            changed,
            _is_per_broker,
            "Cannot update these configs at default cluster level, broker id must be specified",
        )
    check_broker_config(layers.config)
    read_listeners(layers.config.network, layers.texts)


_ONLY_PER_LISTENER = frozenset(
    (
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.certificates",
    )
)
_LISTENER_SETTINGS_FOR_ALL = frozenset(
    ("max.connections", "max.connection.creation.rate", "num.network.threads")
)


def _check_complete(alterations: list[Alteration]) -> None:
    names = [alteration.name for alteration in alterations]
    if len(set(names)) < len(names):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    missing = [
        alteration.name
        for alteration in alterations
        if alteration.value is None and alteration.operation is not AlterOperation.DELETE
    ]
    if missing:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(missing)}"
        )


def _apply(
    changed: dict[str, str], alteration: Alteration, settings: Mapping[str, Setting]
) -> None:
    name = alteration.name
    match alteration.operation:
        case AlterOperation.SET:
            changed[name] = alteration.value or ""
        case AlterOperation.DELETE:
            changed.pop(name, None)
        case AlterOperation.APPEND:
            elements = _elements(changed, alteration, settings)
            new = [e for e in (alteration.value or "").split(",") if e not in elements]
            changed[name] = ",".join([*elements, *new])
        case AlterOperation.SUBTRACT:
            elements = _elements(changed, alteration, settings)
            for element in (alteration.value or "").split(","):
                if element in elements:
                    elements.remove(element)
            changed[name] = ",".join(elements)


def _elements(
    changed: Mapping[str, str], alteration: Alteration, settings: Mapping[str, Setting]
) -> list[str]:
    """The elements that a list has now, out of its default if nothing is set."""
    name = alteration.name
    setting = settings.get(base_name(name))
    if setting is None:
        raise config_error(f"Unknown config name: {name}")
    if setting.type is not ConfigType.LIST:
        word = alteration.operation.name.lower()
        raise config_error(f"Config value {word} is not allowed for config key: {name}")
    text = changed.get(name, setting.default_text or "")
    return [element for element in text.split(",") if element]


def _refuse(changed: Mapping[str, str], is_refused: Callable[[str], bool], message: str) -> None:
    refused = [name for name in changed if is_refused(name)]
    if refused:
        raise config_error(f"{message}: {', '.join(refused)}")


def _is_static(name: str) -> bool:
    setting = broker_settings().get(name)
    # Kafka would store those of the authorizer, and go on without them.
    is_static = setting is not None and setting.update is UpdateMode.READ_ONLY
    return is_static or is_of_authorizer(name)


def _is_per_broker(name: str) -> bool:
    if LISTENER_SETTING.fullmatch(name):
        return base_name(name) not in _LISTENER_SETTINGS_FOR_ALL
    setting = broker_settings().get(name)
    return setting is not None and setting.update is UpdateMode.PER_BROKER
