"""The pytest plugin: `def test_x(kafka)` gets a broker of its own."""

import pytest

from moldau.testing.broker import EmbeddedBroker


class TestWithoutSettings:
    def test_the_fixture_is_a_broker(self, kafka: EmbeddedBroker) -> None:
        assert kafka.look(lambda broker: broker.config.general.num_partitions) == 1


class TestWithSettings:
    @pytest.fixture
    def kafka_settings(self) -> dict[str, str]:
        return {"num.partitions": "7"}

    def test_a_class_may_choose_settings(self, kafka: EmbeddedBroker) -> None:
        assert kafka.look(lambda broker: broker.config.general.num_partitions) == 7
