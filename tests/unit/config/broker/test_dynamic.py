"""Broker settings that exist only dynamically."""

from moldau.config.broker.dynamic import find_broker_setting


def test_throttles_are_settings_although_no_file_may_have_them() -> None:
    setting = find_broker_setting("leader.replication.throttled.rate")
    assert setting is not None
    assert setting.default == 2**63 - 1


def test_a_listener_prefix_does_not_hide_the_setting() -> None:
    setting = find_broker_setting("listener.name.external.max.connections")
    assert setting is not None
    assert setting.name == "max.connections"


def test_an_unknown_name_has_no_definition() -> None:
    assert find_broker_setting("nosuch") is None
