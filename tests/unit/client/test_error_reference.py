"""The page of errors says what the errors say."""

from pathlib import Path

import pytest

from moldau.advice import ADVICE
from moldau.client.error_reference import links, main, reference
from moldau.errors import ErrorCode, KafkaError

PAGE = Path(__file__).parents[3] / "docs" / "errors.md"


def test_the_page_in_docs_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out == PAGE.read_text(), (
        "run python -m moldau.client.error_reference"
    )


@pytest.mark.parametrize("name", ADVICE)
def test_an_error_has_cause_advice_and_a_link(name: str) -> None:
    code = ErrorCode[name]
    page = "\n".join(reference())
    section = page.partition(f"\n## {type(KafkaError(code)).__name__}\n")[2].partition("\n## ")[0]
    assert f"`{name}`, {code.value}," in section
    assert f"\n- Cause: {KafkaError(code).cause}.\n" in section
    assert f"\n- Check: {ADVICE[name]}.\n" in section
    assert links(code)
    assert all(link in section for link in links(code))


def test_codes_that_applications_do_not_get_have_a_cause() -> None:
    page = "\n".join(reference())
    for code in set(ErrorCode) - {ErrorCode.NONE}:
        if code.name not in ADVICE:
            assert f"| {code.value} | `{code.name}` | {KafkaError(code).cause} |" in page
