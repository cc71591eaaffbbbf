"""Transformations one after the other, where their predicates say so."""

import pytest

from moldau.connect.config.definition import kafka_settings
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.chain import (
    TRANSFORMATIONS,
    TransformationChain,
    predicate_class,
    transformation_class,
)

PACKAGE = "org.apache.kafka.connect.transforms"
SETTINGS = {
    "transforms": "drop,wrap",
    "transforms.drop.type": f"{PACKAGE}.Filter",
    "transforms.drop.predicate": "dead",
    "transforms.wrap.type": "HoistField$Value",
    "transforms.wrap.field": "f",
    "transforms.wrap.predicate": "dead",
    "transforms.wrap.negate": "true",
    "predicates": "dead",
    "predicates.dead.type": "RecordIsTombstone",
}


def test_predicates_choose_and_may_be_negated() -> None:
    chain = TransformationChain(SETTINGS)
    assert chain.apply(ConnectRecord("t")) is None
    found = chain.apply(ConnectRecord("t", value=Datum(1)))
    assert found is not None
    assert found.value.value == {"f": 1}


def test_all_sixteen_are_there_by_javas_names() -> None:
    names = {each.partition("$")[0] for each in TRANSFORMATIONS if each.startswith(PACKAGE)}
    assert len(names) == 16
    assert transformation_class("Cast$Key") == f"{PACKAGE}.Cast$Key"
    assert predicate_class("HasHeaderKey") == f"{PACKAGE}.predicates.HasHeaderKey"
    assert all(kafka_settings(each) or each.endswith(".Filter") for each in names)


@pytest.mark.parametrize(
    "settings",
    [
        {"transforms": "a"},
        {"transforms": "a", "transforms.a.type": "Nope"},
        {"predicates": "p", "predicates.p.type": "Nope"},
        {"transforms": "a", "transforms.a.type": "Filter", "transforms.a.predicate": "p"},
    ],
)
def test_what_is_not_there_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        TransformationChain(settings)
