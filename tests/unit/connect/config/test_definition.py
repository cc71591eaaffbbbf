"""Settings are described as Apache's REST describes them."""

from moldau.connect.config.definition import PluginSetting, at_least, kafka_settings, one_of


def test_definitions_of_apache_are_there() -> None:
    names = [each.name for each in kafka_settings("common")]
    assert names[:3] == ["name", "connector.class", "tasks.max"]
    assert kafka_settings("org.apache.kafka.connect.transforms.Cast$Key")[0].name == "spec"
    assert kafka_settings("nothing") == ()


def test_a_definition_has_connects_names_in_order() -> None:
    found = PluginSetting("a", "INT", "1", documentation="d").as_json()
    assert list(found)[:4] == ["name", "type", "required", "default_value"]
    assert found["display_name"] == "a"


def test_checks_say_what_is_wrong() -> None:
    assert one_of("a", "b")("c") == "String must be one of: a, b"
    assert at_least(1)("0") == "Value must be at least 1"
    assert at_least(1)(None) == "Value must be non-null"
    assert at_least(1)("1") is None
