"""Both forms of the clients have the same names, with the same parameters."""

import inspect

import pytest

from moldau.client import blocking
from moldau.client.admin.admin import Admin
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer

# What the asyncio form has for the blocking one, which starts when it is made.
INSIDE = {"start", "outgoing", "abort_unless_lost"}
PAIRS = [(Producer, blocking.Producer), (Consumer, blocking.Consumer), (Admin, blocking.Admin)]


def methods_of(kind: type) -> dict[str, inspect.Signature]:
    found = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {name: inspect.signature(each) for name, each in found.items() if callable(each)}


@pytest.mark.parametrize(("asynchronous", "plain"), PAIRS)
def test_names_are_the_same(asynchronous: type, plain: type) -> None:
    assert set(methods_of(asynchronous)) - INSIDE == set(methods_of(plain))


@pytest.mark.parametrize(("asynchronous", "plain"), PAIRS)
def test_parameters_are_the_same(asynchronous: type, plain: type) -> None:
    ours = {**methods_of(plain), "": inspect.signature(plain)}
    theirs = {**methods_of(asynchronous), "": inspect.signature(asynchronous)}
    assert {name: parameters(each) for name, each in ours.items()} == {
        name: parameters(theirs[name]) for name in ours
    }


def parameters(signature: inspect.Signature) -> list[tuple[str, object, object]]:
    return [(each.name, each.kind, each.default) for each in signature.parameters.values()]
