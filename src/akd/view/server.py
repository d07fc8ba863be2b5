"""`Viewer`: the web server of `akd view`, one session a browser."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Lock

import viser
import websockets.asyncio.server

from akd.asset.asset import AssetError
from akd.pipeline import animate
from akd.view.content import Content
from akd.view.job import Animate
from akd.view.looks import TRIANGLES
from akd.view.session import Session

LOCAL = "127.0.0.1"
_OWN_PAGE = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?")


class _Server(viser.ViserServer):
    """viser without its tunnel: nothing leaves the machine."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: any browser could ask for it."""
        return None


class Viewer:
    """Serves what a path holds until it is closed. A context manager."""

    def __init__(
        self,
        path: Path,
        *,
        host: str = LOCAL,
        port: int = 8080,
        most_triangles: int | None = TRIANGLES,
        make: Animate = animate,
    ) -> None:
        """Start to serve.

        Args:
            path: A file that `akd.load` reads, a folder that `akd animate` wrote, or a folder of
                these.
            host: Address to bind to.
            port: Port; the next free one is taken where it is in use. 0 takes any.
            most_triangles: Larger characters are decimated to this number; None shows all.
            make: `akd.animate`, or the same with other settings: what run mode calls.

        Raises:
            ValueError: There is nothing to show.
            AssetError: The first file cannot be read.
        """
        self.content = Content(path, most_triangles=most_triangles)
        self.content.first()
        # A tab may close between two messages of a frame; its session ends right after.
        warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)
        self._make = make
        self._sessions: dict[int, Session] = {}
        self._lock = Lock()
        with _own_pages(host), contextlib.redirect_stdout(io.StringIO()):
            self._server = _Server(host=host, port=port, label="akd view", verbose=False)
        self._server.scene.set_up_direction("+y")
        self._server.gui.configure_theme(show_share_button=False)
        self._server.gui.main_panel.dock_right()
        self._server.on_client_connect(self._enter)
        self._server.on_client_disconnect(self._leave)

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Of the browsers that are connected."""
        with self._lock:
            return tuple(self._sessions.values())

    def close(self) -> None:
        """End all sessions and stop serving."""
        for session in self.sessions:
            session.close()
        with contextlib.redirect_stdout(io.StringIO()):
            self._server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _enter(self, client: viser.ClientHandle) -> None:
        try:
            session = Session(client, self.content, make=self._make)
        except (AssetError, ValueError) as error:  # the file was deleted since the server started
            client.add_notification("akd", str(error))
            return
        with self._lock:
            self._sessions[client.client_id] = session

    def _leave(self, client: viser.ClientHandle) -> None:
        with self._lock:
            session = self._sessions.pop(client.client_id, None)
        if session is not None:
            session.close()


@contextlib.contextmanager
def _own_pages(host: str) -> Iterator[None]:
    """While a local server starts: let it refuse connections that pages of other sites open.

    viser takes connections of any origin, and a run can be started through one. It hands no option
    for this to websockets.
    """
    module = websockets.asyncio.server
    serve: Callable[..., object] = module.serve
    if host in (LOCAL, "localhost", "::1"):
        module.serve = partial(serve, origins=[None, _OWN_PAGE])  # pyright: ignore
    try:
        yield
    finally:
        module.serve = serve  # pyright: ignore
