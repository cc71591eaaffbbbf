"""The files of the pages: read once, compressed once, and allowed to do nothing else.

Nothing is built: the browser loads modules as they lie in `static/`. Those of others are in
`static/vendor`, byte for byte as their packages have them; `manifest.json` says which.
"""

import base64
import gzip
import hashlib
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

STATIC = Path(__file__).parent / "static"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_GZIP_BYTES_MIN = 500


@dataclass(frozen=True, slots=True)
class Asset:
    """One file."""

    content: bytes
    compressed: bytes | None
    media_type: str
    tag: str


class _InlineScripts(HTMLParser):
    """Finds the scripts that stand in a page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_inside = tag == "script" and "src" not in dict(attrs)

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.found.append(data)

    def handle_endtag(self, _tag: str) -> None:
        self._is_inside = False


class Assets:
    """All files by their paths, and the policy that a browser keeps for them."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _read(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in _KINDS
        }
        self.page = self._files["index.html"]
        self.policy = _policy(self.page.content.decode())

    def find(self, path: str) -> Asset | None:
        """A file by its path below `static/`."""
        return self._files.get(path)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    compressed = gzip.compress(content, 6, mtime=0) if len(content) >= _GZIP_BYTES_MIN else None
    tag = hashlib.sha256(content).hexdigest()[:16]
    return Asset(content, compressed, _KINDS[path.suffix], f'"{tag}"')


def _policy(page: str) -> str:
    """What a page may load: own files, and the one inline script, which maps module names."""
    scripts = _InlineScripts()
    scripts.feed(page)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts.found
    )
    return (
        f"default-src 'self'; script-src 'self' {hashes}; object-src 'none'; base-uri 'none'; "
        "frame-ancestors 'none'; form-action 'self'"
    )
