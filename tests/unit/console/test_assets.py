"""The pages are complete, small, of known origin, and hand no text to the browser's parser."""

import base64
import hashlib
import json
import re
from pathlib import Path

from moldau.console.assets import STATIC, Assets

VENDOR = STATIC / "vendor"
OWN = [path for path in sorted(STATIC.rglob("*.js")) if VENDOR not in path.parents]
LATER = {
    *("vendor/uPlot.iife.min.js", "vendor/uPlot.min.css"),
    *("pages/live.js", "pages/producing.js", "pages/sql.js", "pages/transfer.js"),
}
PAGE_BYTES_MAX = 60 * 1024


def test_files_of_others_are_those_that_the_manifest_names() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text())
    for each in manifest:
        content = (VENDOR / each["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == each["sha256"], each["file"]
        assert (VENDOR / each["licence_file"]).read_text().strip(), each["package"]
        assert each["version"]
        assert each["licence"] in {"MIT", "Apache-2.0"}
    named = {each["file"] for each in manifest} | {each["licence_file"] for each in manifest}
    assert {path.name for path in VENDOR.iterdir()} == {*named, "manifest.json"}


def test_no_page_parses_text_as_markup_or_code() -> None:
    forbidden = re.compile(
        r"dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write"
        r"|\beval\(|new Function|javascript:"
    )
    assert OWN
    for path in OWN:
        assert not forbidden.search(path.read_text()), path.name


def test_no_page_names_another_host() -> None:
    for path in (*OWN, STATIC / "style.css", STATIC / "index.html"):
        assert not re.search(r"https?://(?!www\.w3\.org|localhost:)", path.read_text()), path.name


def test_every_module_that_is_imported_is_there() -> None:
    for path in OWN:
        for name in re.findall(r'(?:from |import\()"(\.[^"]+)"', path.read_text()):
            assert (path.parent / name).resolve().is_file(), f"{path.name} imports {name}"


def test_what_is_loaded_later_is_not_loaded_at_once() -> None:
    for path in OWN:
        for name in re.findall(r'from "(\.[^"]+)"', path.read_text()):
            found = (path.parent / name).resolve().relative_to(STATIC).as_posix()
            assert found not in LATER, f"{path.name} imports {name}"


def test_the_first_page_is_small() -> None:
    assets = Assets()
    files = [each.relative_to(STATIC).as_posix() for each in STATIC.rglob("*") if each.is_file()]
    loaded = [each for each in files if not each.startswith((*LATER, "pages/admin/"))]
    loaded = [each for each in loaded if not each.endswith((".txt", ".json"))]
    for each in loaded:  # what comes later is not imported by what comes first
        if not each.startswith("vendor/"):
            assert '"./pages/admin/' not in re.sub(
                r"import\([^)]*\)", "", (STATIC / each).read_text()
            )
    size = 0
    for each in loaded:
        found = assets.find(each)
        assert found is not None, each
        size += len(found.compressed or found.content)
    assert size <= PAGE_BYTES_MAX, size


def test_the_policy_allows_own_files_and_the_one_inline_script() -> None:
    assets = Assets()
    (script,) = re.findall(
        r'<script type="importmap">(.*?)</script>', assets.page.content.decode(), re.DOTALL
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in assets.policy
    assert "unsafe" not in assets.policy
    assert assets.policy.startswith("default-src 'self';")
    for name in json.loads(script)["imports"].values():
        assert assets.find(name.removeprefix("/static/")) is not None, name


def test_nothing_outside_the_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "secret.js").write_text("secret")
    (tmp_path / "pages" / "index.html").write_text("<p>hello</p>")
    assets = Assets(tmp_path / "pages")
    assert assets.find("../secret.js") is None
    assert assets.find("index.html") is assets.page
