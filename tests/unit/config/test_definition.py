"""Declaring settings."""

from dataclasses import dataclass

import pytest

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    class_name,
    double,
    integer,
    listing,
    long,
    password,
    read,
    settings_of,
    short,
    string,
)
from moldau.config.rules import at_least
from moldau.config.values import ConfigType, Password
from moldau.errors import InvalidConfig


class Example(Area):
    """Settings of every type."""

    some_flag: bool = boolean(True, "A flag.", importance=Importance.LOW)
    some_count: int = integer(3, "A count.", at_least(1), update=UpdateMode.CLUSTER_WIDE)
    some_short: int = short(1, "A short.")
    some_size: int | None = long(None, "A size.")
    some_ratio: float = double(0.5, "A ratio.")
    some_text: str = string("x", "A text.", name="some.otherText")
    some_list: tuple[str, ...] = listing(("a",), "A list.", is_internal=True)
    some_class: str | None = class_name(None, "A class.")
    some_secret: Password | None = password("A secret.")


def test_the_kafka_name_is_the_field_with_dots_unless_given() -> None:
    assert list(settings_of(Example))[:2] == ["some.flag", "some.count"]
    assert settings_of(Example)["some.otherText"].attribute == "some_text"


def test_a_definition_says_everything_about_a_setting() -> None:
    setting = settings_of(Example)["some.count"]
    assert (setting.type, setting.default, setting.doc) == (ConfigType.INT, 3, "A count.")
    assert (setting.importance, setting.update) == (Importance.MEDIUM, UpdateMode.CLUSTER_WIDE)
    assert settings_of(Example)["some.list"].is_internal
    assert settings_of(Example)["some.secret"].is_sensitive
    assert not setting.is_sensitive


def test_given_texts_are_read_and_the_rest_keeps_its_default() -> None:
    area = read(Example, {"some.count": "7", "some.otherText": "y", "unknown": "z"})
    assert (area.some_count, area.some_text, area.some_flag) == (7, "y", True)
    assert area.some_size is None


def test_a_value_outside_the_rule_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"value 0 for configuration some.count: .* least 1"):
        read(Example, {"some.count": " 0 "})


def test_settings_are_frozen() -> None:
    area = Example(some_count=7)
    with pytest.raises(AttributeError, match="some_count is frozen"):
        area.some_count = 8  # type: ignore[misc]
    with pytest.raises(AssertionError):
        Example(nosuch=1)  # type: ignore[call-arg]


def test_an_area_shows_what_differs_from_the_defaults() -> None:
    assert repr(read(Example, {"some.count": "7", "some.secret": "hush"})) == (
        "Example(some_count=7, some_secret=[hidden])"
    )


@dataclass(frozen=True)
class Plain:
    some_count: int = integer(3, "A count.")


def test_a_dataclass_declares_settings_too() -> None:
    assert settings_of(Plain)["some.count"].default == 3
