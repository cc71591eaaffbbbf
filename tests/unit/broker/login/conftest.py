"""Connections of gates run as they stand and compiled; time may jump."""

import pytest

from moldau.net import connection as connection_module
from moldau.net import listener as listener_module
from moldau.net import sockets
from unit.waiting import LoopTime

FORMS = ("test_gate", "test_gate_sessions")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Both forms, where connections matter."""
    if metafunc.module.__name__.rpartition(".")[2] in FORMS:
        metafunc.parametrize("form", ["source", "compiled"], indirect=True)


@pytest.fixture(autouse=True)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections as they stand and compiled."""
    if getattr(request, "param", "") == "source":
        monkeypatch.setattr(listener_module, "_connections", connection_module)
        monkeypatch.setattr(listener_module, "_sockets", sockets)


@pytest.fixture
async def time(monkeypatch: pytest.MonkeyPatch) -> LoopTime:
    """The loop's time: no test waits for a delay."""
    return LoopTime(monkeypatch)
