"""The viewer's server: to this computer alone, for its own page alone; the command's errors."""

import signal
import socket

import pytest

from akd.cli import main
from tests.commands.small_prior import write_fox

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    from akd.view.server import Viewer

    with Viewer(write_fox(tmp_path_factory.mktemp("server") / "fox.glb"), port=0) as made:
        yield made


@pytest.mark.slow
def test_connections_of_other_sites_are_refused(viewer):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    address = viewer.address.replace("http:", "ws:")
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, origin="http://evil.example", subprotocols=["viser-v1.1.1"])
    with connect(address, origin=viewer.address, subprotocols=["viser-v1.1.1"]) as own:
        assert own.state.name == "OPEN"


def test_it_listens_on_the_loopback_interface_alone(viewer):
    assert viewer.address.startswith("http://127.0.0.1:")
    port = int(viewer.address.rpartition(":")[2])
    with socket.socket() as other:
        other.settimeout(2.0)
        # Another address of the loopback network: a server on all interfaces would answer.
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_the_tunnel_is_off(viewer):
    assert viewer._server.request_share_url() is None


@pytest.mark.parametrize(
    ("path", "says"),
    [("missing.glb", "there is no such file"), ("", "holds neither"), ("broken.glb", "broken.glb")],
)
def test_what_cannot_be_shown_is_one_line(tmp_path, capsys, path, says):
    (tmp_path / "broken.glb").write_bytes(b"glTF")
    folder = tmp_path / "empty"
    folder.mkdir()
    assert main(["view", str(tmp_path / path if path else folder), "--port", "0"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert says in said[0]


def test_sigterm_ends_it(tmp_path, capsys, monkeypatch):
    from akd import cli
    from akd.commands import view

    fox = write_fox(tmp_path / "fox.glb")
    monkeypatch.setattr(view.time, "sleep", lambda _: signal.raise_signal(signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, cli.terminate)
    try:
        assert main(["view", str(fox), "--port", "0"]) == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().out.endswith("ended\n")
    assert [path.name for path in tmp_path.iterdir()] == ["fox.glb"]


def test_another_host_is_warned_of(tmp_path, capsys, monkeypatch):
    from akd.commands import view

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(view.time, "sleep", interrupt)
    fox = write_fox(tmp_path / "fox.glb")
    assert main(["view", str(fox), "--host", "0.0.0.0", "--port", "0"]) == 0
    said = capsys.readouterr()
    assert "akd: warning: listening on 0.0.0.0" in said.err
    assert "http://" in said.out
