"""Functions are asked how many arguments they want."""

import pytest

from moldau.streams.functions import Vectorized, parameter_count, vectorized


def test_a_function_takes_the_value_or_key_and_value() -> None:
    assert parameter_count(lambda value: value) == 1
    assert parameter_count(lambda key, value: (key, value)) == 2
    assert parameter_count(lambda value, scale=3: value * scale) == 1


def test_other_functions_are_refused() -> None:
    with pytest.raises(ValueError, match="must take the value, or the key and the value"):
        parameter_count(lambda: None)
    with pytest.raises(ValueError, match="must take"):
        parameter_count(lambda one, two, three: one + two + three)
    with pytest.raises(ValueError, match="takes the value"):
        Vectorized(print, "string", 3)


def test_a_vectorized_function_knows_what_it_returns() -> None:
    @vectorized("bigint")
    def doubled(value: int) -> int:
        return 2 * value

    assert (doubled.returns, doubled.parameter_count) == ("bigint", 1)
    assert vectorized("string", arguments=2)(print).parameter_count == 2
