"""Quotas of users, clients and addresses."""

import pytest

from moldau.config.client_quotas import AddressQuotas, ClientQuotas
from moldau.config.definition import read, settings_of
from moldau.errors import InvalidConfig


def test_quotas_have_kafkas_names() -> None:
    assert list(settings_of(ClientQuotas)) == [
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
    ]
    assert list(settings_of(AddressQuotas)) == ["connection_creation_rate"]


def test_a_quota_is_greater_than_nothing() -> None:
    assert read(ClientQuotas, {"request_percentage": "0.5"}).request_percentage == 0.5
    with pytest.raises(InvalidConfig, match="greater than 0"):
        read(ClientQuotas, {"producer_byte_rate": "0"})
