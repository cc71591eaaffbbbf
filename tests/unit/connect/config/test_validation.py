"""Settings of connectors are checked with Connect's texts."""

import pytest

from moldau.connect.config.definition import PluginSetting
from moldau.connect.config.validation import SINK, SOURCE, settings_for, validate

OWN = (
    PluginSetting("topic", required=True),
    PluginSetting("size", "LONG", "5"),
    PluginSetting("r", "DOUBLE"),
)
TYPE = "transforms.a.type"
GOOD = {"name": "n", "connector.class": "c", "topic": "t"}


def test_good_settings_have_no_errors() -> None:
    found = validate("c", SOURCE, OWN, GOOD)
    assert found.errors == []
    assert found.as_json()["error_count"] == 0
    assert [each.name for each in settings_for(SOURCE, OWN)][-1] == "r"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        (
            {"tasks.max": "0"},
            "Invalid value 0 for configuration tasks.max: Value must be at least 1",
        ),
        ({"size": "x"}, "Invalid value x for configuration size: Not a number of type LONG"),
        ({"r": "x"}, "Invalid value x for configuration r: Not a number of type DOUBLE"),
        (
            {"transforms": "a", "transforms.a.type": "Nope"},
            f"Invalid value Nope for configuration {TYPE}: Class Nope could not be found.",
        ),
        (
            {"transforms": "a", "transforms.a.type": "MaskField$Value", "transforms.a.fields": ""},
            "Invalid value [] for configuration fields: Empty list",
        ),
    ],
)
def test_what_is_wrong_is_said_in_kafkas_words(changed: dict[str, str], error: str) -> None:
    found = validate("c", SOURCE, OWN, {**GOOD, **changed})
    assert found.errors == [error]
    assert "contains the following 1 error(s):\n" + error in found.message()


def test_a_truth_value_is_true_or_false() -> None:
    [error] = validate("c", SOURCE, OWN, {**GOOD, "errors.log.enable": "x"}).errors
    assert error.endswith("errors.log.enable: Expected value to be either true or false")


def test_a_sink_has_topics_one_way() -> None:
    def errors(**topics: str) -> list[str]:
        given = {name.replace("_", "."): text for name, text in topics.items()}
        return validate("c", SINK, (), {"name": "n", "connector.class": "c", **given}).errors

    assert errors() == ["Must configure one of topics or topics.regex"] * 2
    assert len(errors(topics="a", topics_regex="b")) == 2
    assert errors(topics="a") == []
    [dead] = errors(topics="a,b", errors_deadletterqueue_topic_name="b")
    assert "('topics=[a, b]')" in dead
