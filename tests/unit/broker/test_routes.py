"""The table of routes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.broker import handlers
from moldau.broker.routes import ROUTES, Route


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_has_a_handler_for_versions_that_are_declared(route: Route) -> None:
    assert callable(route.handler.handle)
    messages = route.api.module_name.rpartition(".")[2]
    assert route.handler.__name__ == f"{handlers.__name__}.{messages}"
    assert route.versions.start in route.api.versions
    assert route.versions[-1] in route.api.versions


def test_routes_stand_in_the_order_of_their_keys_and_once() -> None:
    keys = [route.api.key for route in ROUTES]
    assert keys == sorted(set(keys))


def test_a_handler_is_loaded_when_it_is_first_used() -> None:
    loaded = "[name for name in sys.modules if name.startswith('moldau.broker.handlers.')]"
    code = f"""
import sys
from moldau.broker.routes import ROUTES
print({loaded})
print(next(route for route in ROUTES if route.name == "Heartbeat").handler.__name__)
print({loaded})
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, name, after = done.stdout.splitlines()
    assert before == "[]"
    assert after == f"[{name!r}]"


def test_a_handler_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="'drop_everything'"):
        _ = handlers.drop_everything  # type: ignore[attr-defined]
