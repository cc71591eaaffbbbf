"""Structs as text; what their fields become is tested with json_writers.py."""

import json
from collections import OrderedDict
from contextlib import suppress
from importlib import import_module
from types import ModuleType

import pytest

from moldau.connect.converters import json_structs
from moldau.connect.data.record import FixedStruct

FORMS: dict[str, ModuleType] = {"source": json_structs}
with suppress(ImportError):
    FORMS["compiled"] = import_module("moldau.connect.converters._json_structs")


@pytest.fixture(params=list(FORMS))
def form(request: pytest.FixtureRequest) -> ModuleType:
    return FORMS[request.param]


def writer(form: ModuleType) -> json_structs.StructWriter:
    inner = form.StructWriter([form.FieldWriter("ü\n", None, None, None)])
    found: json_structs.StructWriter = form.StructWriter(
        [
            form.FieldWriter("n", 5, None, None),
            form.FieldWriter("t", None, str.upper, None),
            form.FieldWriter("s", None, None, inner),
            form.FieldWriter("l", None, None, None),
        ]
    )
    return found


@pytest.mark.parametrize(
    "value",
    [
        {"n": 10**30, "t": 'a"\\', "s": {"ü\n": 1.5}, "l": [1, None]},
        {"n": True, "t": "ß", "s": {"ü\n": "\u2028\0"}, "l": {"k": False}},
        {"n": -1, "t": "", "s": {"ü\n": 1e300}, "l": "x"},
    ],
)
def test_text_is_that_of_the_library(form: ModuleType, value: dict[str, object]) -> None:
    stored = {**value, "t": str(value["t"]).upper()}
    text = json.dumps(stored, separators=(",", ":"), ensure_ascii=False)
    assert writer(form).text(value) == text
    assert writer(form).text(OrderedDict(value)) == text
    assert writer(form).text({**value, "more": 1}) == text


def test_what_is_missing_is_the_default(form: ModuleType) -> None:
    assert writer(form).text({"t": None}) == '{"n":5,"t":null,"s":null,"l":null}'
    assert form.StructWriter([]).text({"n": 1}) == "{}"


def test_the_text_of_a_struct_that_nobody_changes_is_kept(form: ModuleType) -> None:
    made: list[object] = []

    def noted(value: object) -> object:
        made.append(value)
        return value

    field = form.FieldWriter("n", None, noted, None)
    found = form.StructWriter([field])
    one, other = FixedStruct(n=1), FixedStruct(n=2)
    given = [one, one, other, other, one, {"n": 1}, {"n": 1}]
    texts = ['{"n":1}', '{"n":1}', '{"n":2}', '{"n":2}', '{"n":1}', '{"n":1}', '{"n":1}']
    assert [found.text(each) for each in given] == texts
    assert made == [1, 2, 1, 1, 1]


def test_another_kind_of_value_is_a_mistake(form: ModuleType) -> None:
    with pytest.raises(AssertionError):
        writer(form).text([])
