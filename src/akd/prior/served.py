"""Shared inference: one process predicts for several jobs, in one batch of the tiny prior.

Each job keeps a process of its own, with its renderer, optimiser and checkpoints; only `predict`
crosses over, as safetensors on a local socket. The server takes whatever is asked when it is free,
so that nobody waits for a job that renders or runs physics. Rows do not depend on one another
beyond rounding.
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import Client, Connection, Listener, wait
from pathlib import Path
from threading import Thread
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from safetensors.torch import load, save
from torch import Tensor

from akd.prior.protocol import Condition, check_rows
from akd.prior.tiny.load import load_tiny
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny

_log = logging.getLogger(__name__)
_MOST_ROWS = 128
"""Of a batch; more are predicted one batch after the other."""
_START_SECONDS = 120.0
"""For a server to import its libraries."""
_POLL_SECONDS = 0.05
"""Until a client that has just connected is listened to."""


def use_server(address: str) -> None:
    """Let the tiny priors that this process loads ask the server at a socket."""
    PriorServed.address = address


def with_server(prior: PriorTiny, weights: Path) -> PriorTiny:
    """The prior, asking this process's server where there is one; `weights` is its folder."""
    address = PriorServed.address
    if address is None:
        return prior
    asked = {"weights": str(weights.resolve()), "device": prior.device.type}
    return PriorServed(prior.network, tokens=prior.tokens, server=_Server(address, asked))


class PriorServed(PriorTiny):
    """A tiny prior whose predictions another process makes."""

    capturable = False
    address: ClassVar[str | None] = None
    """Of this process's server."""

    def __init__(
        self,
        network: TinyNetwork,
        *,
        tokens: Sequence[str],
        server: _Server,
        leg_length: float | None = None,
    ) -> None:
        super().__init__(network, tokens=tokens, leg_length=leg_length)
        self._server = server

    def for_body(self, leg_length: float) -> PriorServed:
        """The same at its frame rate for a body with legs of this length in metres."""
        return PriorServed(
            self.network, tokens=self.tokens, server=self._server, leg_length=leg_length
        )

    @torch.no_grad()
    def predict(
        self,
        latents: Float[Tensor, "B T H W 3"],
        t: Float[Tensor, "B"],
        conditions: Sequence[Condition],
    ) -> Float[Tensor, "B T H W 3"]:
        """The clean estimate, as `PriorTiny.predict`; known frames are not sent.

        If the server is gone, this process's own weights predict.
        """
        if self._server.gone or any(condition.known is not None for condition in conditions):
            return super().predict(latents, t, conditions)
        clean = self._server.ask(Question.of(latents, t, conditions))
        if clean is None:
            return super().predict(latents, t, conditions)
        return clean.to(latents.device)


@dataclass(frozen=True)
class Question:
    """Rows to predict, on the CPU."""

    latents: Float[Tensor, "B T H W 3"]
    t: Float[Tensor, "B"]
    text: Float[Tensor, "B L D"]
    images: Float[Tensor, "M H W 3"]
    """Different reference images."""
    image: Int[Tensor, "B"]
    """Which of them a row has; -1 for none."""

    @classmethod
    def of(cls, latents: Tensor, t: Tensor, conditions: Sequence[Condition]) -> Question:
        """The arguments of `predict`. Raises `ValueError` where the rows do not agree."""
        check_rows(latents, t, conditions)
        images: dict[int, Tensor] = {}
        image = []
        for condition in conditions:
            given = condition.reference_image
            image.append(-1 if given is None else id(given))
            if given is not None:
                images[id(given)] = given
        places = {key: place for place, key in enumerate(images)}
        none = latents.new_zeros(0, *latents.shape[2:])
        return cls(
            latents=latents.cpu(),
            t=t.cpu(),
            text=torch.stack([condition.text for condition in conditions]).cpu(),
            images=torch.stack([*images.values()]).cpu() if images else none.cpu(),
            image=torch.tensor([places.get(key, -1) for key in image]),
        )

    def conditions(self, device: torch.device) -> list[Condition]:
        """A condition for each row."""
        texts, images = self.text.to(device), self.images.to(device)
        return [
            Condition(text, None if place < 0 else images[place])
            for text, place in zip(texts, self.image.tolist(), strict=True)
        ]


class _Server:
    """The far end of a socket, seen from a job."""

    def __init__(self, address: str, asked: dict[str, str]) -> None:
        self._address, self._asked = address, json.dumps(asked).encode()
        self._pipe: Connection | None = None
        self.gone = False
        """Whether it ended, or never began."""

    def ask(self, question: Question) -> Tensor | None:
        """The prediction, on the CPU; None if the server is gone.

        Raises:
            RuntimeError: It could not predict; the message is its own.
        """
        try:
            if self._pipe is None:
                self._pipe = _connect(self._address)
            self._pipe.send_bytes(self._asked)
            self._pipe.send_bytes(save({k: v.contiguous() for k, v in vars(question).items()}))
            error, clean = self._pipe.recv_bytes().decode(), self._pipe.recv_bytes()
        except (EOFError, OSError) as why:
            self.gone = True
            _log.warning("the process that predicts for all jobs is gone (%s); going on alone", why)
            return None
        if error:
            raise RuntimeError(error)
        return load(clean)["clean"]


def _connect(address: str) -> Connection:
    """Connect, once the server has started. Raises `OSError` if it does not."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            return Client(address, "AF_UNIX", authkey=current_process().authkey)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)


def serve_predictions(address: str, alive: Connection) -> None:
    """Predict for all who ask at a socket, until `alive` is closed."""
    # A thread learns of the number of threads at its first parallel loop; until then products take
    # another one, and the first answer would differ from later ones in its last bits.
    torch.set_num_threads(torch.get_num_threads())
    clients: list[Connection] = []
    with Listener(address, "AF_UNIX", authkey=current_process().authkey) as listener:
        Thread(target=_welcome, args=(listener, clients), daemon=True).start()
        while True:
            ready = wait([alive, *clients], _POLL_SECONDS)
            if alive in ready:
                break
            asked: dict[bytes, list[tuple[Connection, Question]]] = defaultdict(list)
            for client in [client for client in clients if client in ready]:
                try:
                    prior, rows = client.recv_bytes(), client.recv_bytes()
                    asked[prior].append((client, Question(**load(rows))))
                except (EOFError, OSError):
                    clients.remove(client)
                    client.close()
            for prior, questions in asked.items():
                _answer(_load(prior), questions)
    for client in clients:
        client.close()


def _welcome(listener: Listener, clients: list[Connection]) -> None:
    while True:
        try:
            clients.append(listener.accept())
        except (AuthenticationError, EOFError, ConnectionError):
            continue
        except OSError:  # closed
            return


@cache
def _load(asked: bytes) -> PriorTiny:
    about = json.loads(asked)
    return load_tiny(Path(about["weights"]), device=torch.device(about["device"]))


def _answer(prior: PriorTiny, asked: Sequence[tuple[Connection, Question]]) -> None:
    """Predict all rows in one batch; where that fails, each question alone."""
    error, answers = "", [torch.zeros(0)] * len(asked)
    try:
        answers = predict_together(prior, [question for _, question in asked])
    except (RuntimeError, ValueError) as caught:
        if len(asked) > 1:
            for one in asked:
                _answer(prior, [one])
            return
        error = " ".join(str(caught).split()) or type(caught).__name__
    for (client, _), clean in zip(asked, answers, strict=True):
        try:
            client.send_bytes(error.encode())
            client.send_bytes(save({"clean": clean.cpu().contiguous()}))
        except OSError:
            continue  # its end is noticed when it is next listened to


def predict_together(prior: PriorTiny, questions: Sequence[Question]) -> list[Tensor]:
    """The prediction of each question, all rows in one batch."""
    device = prior.device
    latents = torch.cat([question.latents for question in questions]).to(device)
    t = torch.cat([question.t for question in questions]).to(device)
    conditions = [c for question in questions for c in question.conditions(device)]
    batches = [
        prior.predict(latents[k : k + _MOST_ROWS], t[k : k + _MOST_ROWS], part)
        for k in range(0, len(latents), _MOST_ROWS)
        if (part := conditions[k : k + _MOST_ROWS])
    ]
    clean = torch.cat(batches)
    return list(clean.split([len(question.latents) for question in questions]))
