"""A small server for the A/B study: it shows the page and saves what is sent."""

from __future__ import annotations

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from akd.report.blind import Pair, read_form, thanks_page, vote_lines

_LARGEST_FORM = 1_000_000


class BlindServer(ThreadingHTTPServer):
    """Serves `text` at / and adds the votes sent to /votes to a file, each at once on the disk."""

    def __init__(
        self, text: str, pairs: list[Pair], votes: Path, *, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.text, self.pairs, self.votes = text.encode("utf-8"), pairs, votes
        self.lock = Lock()
        super().__init__((host, port), _Handler)

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        host, port = self.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}/"

    def save(self, lines: str) -> None:
        """Add lines to the file of votes."""
        with self.lock, self.votes.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


class _Handler(BaseHTTPRequestHandler):
    server: BlindServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        if self.path == "/":
            self._answer(200, self.server.text)
        else:
            self._answer(404, b"there is nothing here")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isascii() and length.isdigit() else 0
        if self.path != "/votes" or not 0 < size <= _LARGEST_FORM:
            self._answer(400, b"votes are sent to /votes")
            return
        # Browsers send Origin with every form that comes from another site.
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != self.headers.get("Host"):
            self._answer(403, b"votes are taken from this page alone")
            return
        fields = parse_qs(self.rfile.read(size).decode("utf-8", "replace"))
        try:
            self.server.save(vote_lines(read_form(fields, self.server.pairs)))
        except ValueError as error:
            self._answer(400, str(error).encode())
        except OSError as error:
            self._answer(500, f"the votes could not be saved: {error.strerror}".encode())
        else:
            self._answer(200, thanks_page().encode())

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        kind = "text/html" if body.startswith(b"<!doctype") else "text/plain"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for the tally."""
