"""The table of routes."""

import pytest

from moldau.broker.routes import ROUTES, Route


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_has_a_handler_for_versions_that_are_declared(route: Route) -> None:
    assert callable(route.handler.handle)
    assert route.versions.start in route.api.versions
    assert route.versions[-1] in route.api.versions


def test_routes_stand_in_the_order_of_their_keys_and_once() -> None:
    keys = [route.api.key for route in ROUTES]
    assert keys == sorted(set(keys))
