"""What the front page and docs/testing.md show of tests with a broker, works."""

import re
from pathlib import Path

import pytest

from moldau.testing.broker import running_broker

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (name, number, source)
    for name in ("README.md", "docs/testing.md")
    for number, source in enumerate(BLOCK.findall((ROOT / name).read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(
    ("page", "number", "source"), BLOCKS, ids=[f"{name}-{number}" for name, number, _ in BLOCKS]
)
def test_a_block_runs_and_its_tests_pass(page: str, number: int, source: str) -> None:
    with running_broker() as kafka:
        names: dict[str, object] = {"kafka": kafka}
        exec(compile(source, page, "exec"), names)
        for test in [each for name, each in names.items() if name.startswith("test_")]:
            assert callable(test)
            with running_broker() as its_own:
                test(its_own)


def test_both_pages_have_tests_to_copy() -> None:
    for page in ("README.md", "docs/testing.md"):
        assert any(page == name and "def test_" in source for name, _, source in BLOCKS)
