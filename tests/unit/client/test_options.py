"""Settings as keywords are those that clients have, with the same types."""

from typing import get_type_hints

import pytest

from moldau.client.options import AdminOptions, ConsumerOptions, ProducerOptions
from moldau.client.settings import AdminSettings, ConsumerSettings, ProducerSettings


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (ProducerOptions, ProducerSettings),
        (ConsumerOptions, ConsumerSettings),
        (AdminOptions, AdminSettings),
    ],
)
def test_keywords_are_the_settings(options: type, settings: type) -> None:
    assert get_type_hints(options) == get_type_hints(settings)
