"""Converters by name, with the settings that are theirs."""

import pytest

from moldau.connect.converters.lookup import CONVERTERS, class_of, converters_of
from moldau.connect.data.record import Datum
from moldau.connect.errors import ConfigError

JSON = "org.apache.kafka.connect.json.JsonConverter"


def test_full_and_short_names_mean_the_same() -> None:
    assert class_of(JSON, CONVERTERS) == class_of("JsonConverter", CONVERTERS) == JSON
    assert class_of("Json", CONVERTERS) == JSON
    assert class_of("Nope", CONVERTERS) is None


def test_a_connector_that_names_its_converter_inherits_no_settings_for_it() -> None:
    worker = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    inherited = converters_of(worker, {})
    own = converters_of(worker, {"value.converter": JSON})
    assert inherited.value.to_bytes("t", Datum({"a": 1})) == b'{"a":1}'
    assert own.value.to_bytes("t", Datum({"a": 1})) == b'{"schema":null,"payload":{"a":1}}'


def test_an_unknown_class_is_named() -> None:
    with pytest.raises(ConfigError, match="Class x could not be found"):
        converters_of({"key.converter": "x"}, {})
