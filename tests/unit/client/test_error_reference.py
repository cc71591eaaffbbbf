"""The page of errors says what the errors say."""

from pathlib import Path

import pytest

from moldau.client.error_reference import main

PAGE = Path(__file__).parents[3] / "docs" / "errors.md"


def test_the_page_in_docs_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out == PAGE.read_text(), (
        "run python -m moldau.client.error_reference"
    )
