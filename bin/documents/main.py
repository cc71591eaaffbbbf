"""Builds the documentation site from docs/, or makes the pictures of the front page.

bin/docs              the site, in build/site
bin/docs serve        the same, on http://localhost:8000, built anew when a document changes
bin/docs chart        docs/comparison.svg, from the figures of docs/benchmarks.md
bin/docs terminal     docs/quickstart.svg, from a run of bin/quickstart
bin/docs operators    docs/streams-operators.md with its pictures
"""

import argparse
import subprocess
import sys
from pathlib import Path

import chart
import operators
import site_sources
import terminal

ROOT = Path(__file__).resolve().parents[2]
WHAT = ("site", "serve", "chart", "terminal", "operators")


def build_site(root: Path, folder: Path, *, command: str = "build") -> None:
    """Gather the pages and let the generator make HTML of them; a broken link is an error."""
    settings = site_sources.gather(root, folder)
    generator = [sys.executable, "-m", "properdocs", command, "--strict"]
    subprocess.run([*generator, "--config-file", str(settings)], check=True)


def draw_terminal(root: Path) -> None:
    """Run the quickstart and keep what it prints."""
    done = subprocess.run(
        [root / "bin" / "quickstart"], stdout=subprocess.PIPE, text=True, check=True
    )
    target = root / "docs" / "quickstart.svg"
    shown = terminal.shortened(done.stdout)
    target.write_text(terminal.draw("bin/quickstart", shown), encoding="utf-8")


def draw_operators(root: Path) -> None:
    """Write the page of operators, and a picture of each."""
    docs = root / "docs"
    (docs / "streams-operators.md").write_text(operators.page(), encoding="utf-8")
    for each in operators.OPERATORS:
        target = docs / "pictures" / operators.file_name(each)
        target.write_text(operators.draw(each), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bin/docs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="?", choices=WHAT, default="site", help="default: site")
    what = parser.parse_args().what
    if what == "chart":
        (ROOT / "docs" / "comparison.svg").write_text(chart.read(ROOT), encoding="utf-8")
    elif what == "terminal":
        draw_terminal(ROOT)
    elif what == "operators":
        draw_operators(ROOT)
    else:
        build_site(ROOT, ROOT / "build", command="serve" if what == "serve" else "build")


if __name__ == "__main__":
    main()
