"""Generated code."""

import linecache
import traceback

import pytest

from moldau.protocol.source import FunctionSource


def test_blocks_are_indented_and_compiled() -> None:
    source = FunctionSource({"one": 1})
    with source.block("def add(x):"):
        source.line("return x + one")
    assert source.function("add", "test addition")(41) == 42


def test_tracebacks_show_the_generated_line() -> None:
    source = FunctionSource({})
    with source.block("def fail():"):
        source.line("return [][7]")
    with pytest.raises(IndexError) as caught:
        source.function("fail", "test failure")()
    linecache.checkcache()
    assert "return [][7]" in "".join(traceback.format_exception(caught.value))


def test_fresh_names_do_not_repeat() -> None:
    source = FunctionSource({})
    assert [source.fresh("size") for _ in range(3)] == ["size", "size_2", "size_3"]


def test_fresh_names_avoid_those_that_the_text_uses() -> None:
    source = FunctionSource({"helper": len}, reserved=("position",))
    assert source.fresh("position") == "position_2"
    assert source.fresh("helper") == "helper_2"


def test_a_value_keeps_its_global_name() -> None:
    source = FunctionSource({})
    assert (
        source.reference("Part", FunctionSource)
        == source.reference("Other", FunctionSource)
        == "Part"
    )


def test_struct_codes_become_functions() -> None:
    source = FunctionSource({})
    pack, unpack = source.packer("h?"), source.unpacker("h?")
    packed, unpacked = source.scope[pack], source.scope[unpack]
    assert callable(packed)
    assert packed(1, True) == b"\0\1\1"
    assert callable(unpacked)
    assert unpacked(b"\0\1\1", 0) == (1, True)
    assert pack.isidentifier()
