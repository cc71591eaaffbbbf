"""What takes memory has places, in all and for each."""

import pytest

from moldau.console.seats import Seats
from moldau.web.errors import WebError


def test_each_has_some_and_all_have_no_more() -> None:
    seats = Seats("views", total=3, each=2)
    with seats.taking("anna"), seats.taking("anna"):
        with pytest.raises(WebError, match="you have 2 views at once") as refused:
            seats.check("anna")
        assert refused.value.status == 429
        with seats.taking("bob"), pytest.raises(WebError, match="3 views at once is all"):
            seats.check("carl")
    assert seats.taken == 0
    with seats.taking("anna"):
        assert seats.taken == 1
