"""Connectors are found by all names that users give them."""

import pytest

from moldau.connect.connectors.file_stream import FileStreamSource
from moldau.connect.errors import ConfigError
from moldau.connect.worker.plugins import Plugins

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
PLACE = "moldau.connect.connectors.file_stream:FileStreamSource"


@pytest.mark.parametrize("name", [SOURCE, "FileStreamSourceConnector", "FileStreamSource"])
def test_full_and_short_names_mean_the_same(name: str) -> None:
    plugin = Plugins().find(name)
    assert plugin.connector is FileStreamSource
    assert (plugin.kind, plugin.version) == ("source", "3.9.2")
    assert plugin.task_class == "org.apache.kafka.connect.file.FileStreamSourceTask"
    assert [each.name for each in plugin.settings] == ["file", "topic", "batch.size"]


def test_an_unknown_class_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"matches x, available connectors are: PluginDesc\{"):
        Plugins().find("x")


def test_others_bring_their_own() -> None:
    plugins = Plugins({"shop.Orders": PLACE, "bad.One": "nowhere:x", "bad.Two": "json:dumps"})
    assert plugins.find("Orders").connector is FileStreamSource
    for name, why in (("bad.One", "cannot be loaded"), ("bad.Two", "neither a Source nor a Sink")):
        with pytest.raises(ConfigError, match=why):
            _ = plugins.find(name).connector


def test_all_kinds_of_plugins_are_listed() -> None:
    found = Plugins().listed(connectors_only=False)
    kinds = {each["type"] for each in found}
    assert kinds == {
        "source",
        "sink",
        "transformation",
        "predicate",
        "converter",
        "header_converter",
    }
    assert len(Plugins().listed(connectors_only=True)) == len(Plugins().connectors)
