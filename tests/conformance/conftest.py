"""Fixtures of the conformance tests: Apache Kafka's code, started once per test worker."""

from collections.abc import Iterator

import pytest

from conformance.apache.jars import jar_paths
from conformance.apache.lines import JavaProgram
from conformance.apache.tools import ApacheTools
from conformance.our_broker import OurBroker, our_broker


@pytest.fixture(scope="session")
def oracle(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    """The record and log classes of Kafka 3.9, answering calls."""
    show_download(request, "kafka-3.9")
    with JavaProgram("oracle", "kafka-3.9") as program:
        yield program


@pytest.fixture(scope="session")
def messages_39(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    """The message classes of Kafka 3.9, answering calls."""
    show_download(request, "kafka-3.9")
    with JavaProgram("messages", "kafka-3.9") as program:
        yield program


@pytest.fixture(scope="session")
def messages_4(request: pytest.FixtureRequest) -> Iterator[JavaProgram]:
    """The message classes of the newest kafka-clients, answering calls."""
    show_download(request, "clients-4")
    with JavaProgram("messages", "clients-4", "json") as program:
        yield program


@pytest.fixture(scope="session")
def tools(request: pytest.FixtureRequest) -> Iterator[ApacheTools]:
    """Apache's command lines, in one virtual machine."""
    show_download(request, "kafka-3.9")
    with JavaProgram("tools", "kafka-3.9") as program:
        yield ApacheTools(program)


def show_download(request: pytest.FixtureRequest, class_path: str) -> None:
    """Fetch the jars with pytest's capture lifted: the first run takes a while."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        jar_paths(class_path)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurBroker]:
    """Our broker, shared by the tests of a module; each uses topics of its own."""
    with our_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running
