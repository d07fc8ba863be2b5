"""The tiny prior with random weights, but for the last tests, which need those that ship."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import torch

from akd.base.files import DamagedFile, read_tensors, write_tensors
from akd.math.threads import torch_threads
from akd.prior.protocol import Condition, KnownFrames, VideoPrior, for_body, with_known
from akd.prior.sample import sample_latents, sample_videos
from akd.prior.tiny.bodies import body_plans, check_body
from akd.prior.tiny.load import (
    FORMAT,
    PATTERN,
    has_weights,
    known_tokens,
    load_tiny,
    save_tiny,
    shipped_weights,
)
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.pool import Batch, draw_known
from akd.prior.tiny.prior import PriorTiny, cosine_signal
from akd.prior.tiny.settings import TinySettings, TrainSettings
from akd.prior.tiny.train import Trainer
from akd.prior.tiny.vocabulary import TOKENS
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.names import Side
from akd.rig.roles.role import Limb, LimbKind
from akd.scene.settings import SceneStyle

SMALL = TinySettings(
    frames=4, width=16, height=16, patch=8, channels=32, layers=2, heads=2, text_channels=8,
    refine_channels=8,
)  # fmt: skip


def random_network(seed: int = 0) -> TinyNetwork:
    torch.manual_seed(seed)
    network = TinyNetwork(SMALL)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.15)
    return network


@pytest.fixture
def prior() -> PriorTiny:
    return PriorTiny(random_network())


def test_it_is_a_video_prior_and_says_what_it_wants(prior: PriorTiny):
    assert isinstance(prior, VideoPrior)
    assert (prior.frames, prior.width, prior.height, prior.fps) == (4, 16, 16, 12.0)
    assert prior.style is SceneStyle.ROLES


def test_encoding_is_differentiable_and_decoding_undoes_it(prior: PriorTiny):
    video = torch.rand(2, 4, 16, 16, 3, requires_grad=True)
    latents = prior.encode(video)
    torch.testing.assert_close(prior.decode(latents), video)
    latents.sum().backward()
    assert video.grad is not None
    torch.testing.assert_close(video.grad, torch.full_like(video, 2.0))
    with pytest.raises(ValueError, match=r"shape \[B, 4, 16, 16, 3\], got \[1, 8, 16, 16, 3\]"):
        prior.encode(torch.zeros(1, 8, 16, 16, 3))


def test_noise_preserves_variance_from_clean_to_nothing_but_noise(prior: PriorTiny):
    z, e = torch.randn(2, 3, 4, 16, 16, 3)
    t = torch.tensor([0.0, 0.5, 1.0])
    noisy = prior.add_noise(z, e, t)
    torch.testing.assert_close(noisy[0], z[0])
    torch.testing.assert_close(noisy[2], e[2], rtol=1e-5, atol=1e-5)
    alpha, sigma = prior.signal(t)
    torch.testing.assert_close(alpha**2 + sigma**2, torch.ones(3))


def test_the_schedule_is_diffusers_cosine_schedule():
    diffusers = pytest.importorskip("diffusers", reason="needs diffusers")
    theirs = diffusers.DDPMScheduler(beta_schedule="squaredcos_cap_v2", num_train_timesteps=1000)
    steps = torch.arange(50, 950)
    alpha, _ = cosine_signal((steps + 1.0) / 1000.0)
    # Theirs is shifted by 0.008 of the whole.
    torch.testing.assert_close(alpha, theirs.alphas_cumprod[steps].sqrt(), rtol=0.0, atol=0.02)


def test_words_reference_and_time_all_matter_and_rows_do_not_mix(prior: PriorTiny):
    z = torch.randn(1, 4, 16, 16, 3)
    picture, other = torch.rand(2, 16, 16, 3)
    walk = prior.condition("a fox walking", reference_image=picture)
    rows = [
        (walk, 0.5),
        (prior.condition("a fox trotting", reference_image=picture), 0.5),
        (prior.condition("a fox walking", reference_image=other), 0.5),
        (prior.condition("a fox walking"), 0.5),
        (prior.unconditioned(walk), 0.5),
        (walk, 0.8),
    ]
    conditions, times = zip(*rows, strict=True)
    got = prior.predict(z.expand(6, -1, -1, -1, -1), torch.tensor(times), list(conditions))
    for k in range(1, 6):
        assert float((got[k] - got[0]).abs().max()) > 1e-3, rows[k]
    alone = prior.predict(z, torch.tensor([0.5]), [walk])
    torch.testing.assert_close(alone[0], got[0], rtol=1e-4, atol=1e-4)


def test_unconditioned_keeps_the_picture(prior: PriorTiny):
    picture = torch.rand(16, 16, 3)
    empty = prior.unconditioned(prior.condition("a fox walking", reference_image=picture))
    assert empty.reference_image is not None
    torch.testing.assert_close(empty.reference_image, picture)


def test_known_frames_are_returned_as_given_and_change_the_others(prior: PriorTiny):
    z, t = torch.randn(1, 4, 16, 16, 3), torch.tensor([0.5])
    plain = prior.condition("a fox walking")
    known = KnownFrames(torch.rand(4, 16, 16, 3), torch.tensor([True, False, False, False]))
    given = with_known(prior, plain, known)
    got = prior.predict(z, t, [given])
    torch.testing.assert_close(prior.decode(got)[0, 0], known.video[0])
    assert float((got - prior.predict(z, t, [plain]))[0, 1:].abs().max()) > 1e-3
    assert prior.unconditioned(given).known is given.known
    # What the latents hold at the known frames does not matter.
    other = z.clone()
    other[:, 0] += 1.0
    torch.testing.assert_close(prior.predict(other, t, [given]), got)
    with pytest.raises(ValueError, match=r"of shape \[4, 16, 16, 3\]"):
        with_known(prior, plain, KnownFrames(torch.rand(2, 16, 16, 3), known.mask[:2]))


def test_masks_of_known_frames_leave_something_to_find():
    generator = torch.Generator().manual_seed(0)
    masks = draw_known(2000, 24, 0.4, generator=generator)
    some = masks.any(1)
    assert 0.3 < float(some.float().mean()) < 0.42
    assert not masks.all(1).any()
    starts = masks[:, 0] & masks[:, 1] & ~masks[:, -1]
    assert bool(starts.any())
    assert bool((masks[:, 0] & masks[:, -1] & ~masks[:, 8:16].any(1)).any())
    assert not draw_known(50, 24, 0.0, generator=generator).any()


def test_a_frame_lasts_as_long_as_the_legs_make_it(prior: PriorTiny):
    slow, quick = prior.for_body(1.0), prior.for_body(0.25)
    assert slow.fps == pytest.approx(1.0 / (0.3 * math.sqrt(1.0 / 9.81)), rel=1e-3)
    assert quick.fps == pytest.approx(2.0 * slow.fps)
    assert slow.network is prior.network
    assert for_body(prior, 1.0).fps == slow.fps


def test_wrong_input_is_named(prior: PriorTiny):
    with pytest.raises(ValueError, match="reference_image must be 16 x 16 pixels, got 8 x 16"):
        prior.condition("a fox walking", reference_image=torch.zeros(16, 8, 3))
    with pytest.raises(ValueError, match="the tiny prior knows no such action"):
        prior.condition("a fox cooking")
    walk = prior.condition("a fox walking")
    with pytest.raises(ValueError, match="must agree on the batch: 2, 2, 1"):
        prior.predict(torch.zeros(2, 4, 16, 16, 3), torch.zeros(2), [walk])


def test_weights_come_back_from_their_parts(
    prior: PriorTiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("akd.prior.tiny.load.PART_BYTES", 30_000)
    paths = save_tiny(prior.network, tmp_path)
    assert len(paths) > 2
    again = load_tiny(tmp_path, dtype=torch.float32)
    z, t = torch.randn(1, 4, 16, 16, 3), torch.tensor([0.5])
    one = prior.predict(z, t, [prior.condition("a cat jumping")])
    two = again.predict(z, t, [again.condition("a cat jumping")])
    torch.testing.assert_close(one, two, rtol=0.02, atol=0.02)  # half precision
    paths[0].unlink()
    with pytest.raises(ValueError, match=r"must hold \d+ parts"):
        load_tiny(tmp_path)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"patch": 0}, "patch must be a whole number above zero, got 0"),
        ({"layers": True}, "layers must be a whole number above zero, got True"),
        ({"fps": math.nan}, "fps must be a number above zero, got nan"),
        ({"fps": 1 << 40}, "fps at most 1000, got 0.3 and 1.09951e[+]12"),
        ({"frame_time": 1e-30}, "frame_time must be from 0.001 to 1000"),
        ({"channels": 1 << 20}, r"settings ask for at least \d+ weights, got \d+"),
        ({"layers": 1 << 20}, r"settings ask for at least \d+ weights, got \d+"),
        ({"channels": 64}, r"settings ask for at least \d+ weights, got \d+"),
        ({"heads": 3}, "channels must be a multiple of heads 3"),
        ({"more": 1}, "unexpected keyword argument 'more'"),
    ],
)
def test_settings_of_other_weights_are_one_line(tmp_path: Path, settings, said):
    (path,) = save_tiny(random_network(), tmp_path)
    tensors, about = read_tensors(path, format=FORMAT)
    about["settings"] = json.dumps({**json.loads(about["settings"]), **settings})
    write_tensors(path, tensors, about=about)
    with pytest.raises(DamagedFile, match=said):
        load_tiny(tmp_path)


@pytest.mark.parametrize("words", [{"<none>": 0, "fox": 1}, ["fox", "walk"], "<none>", 3])
def test_a_vocabulary_that_is_none_is_one_line(tmp_path: Path, words):
    (path,) = save_tiny(random_network(), tmp_path)
    tensors, about = read_tensors(path, format=FORMAT)
    write_tensors(path, tensors, about={**about, "vocabulary": json.dumps(words)})
    with pytest.raises(DamagedFile, match="vocabulary must be a list of words with <none>"):
        known_tokens(tmp_path)


def test_missing_weights_are_said(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="holds no weights of the tiny prior"):
        load_tiny(tmp_path)


COMPILED = """
import torch
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.settings import TinySettings
s = TinySettings(
    frames=4, width=16, height=16, patch=8, channels=32, layers=2, heads=2, text_channels=8
)
network = TinyNetwork(s)
given = (
    torch.randn(2, 4, 16, 16, 3), torch.rand(2), torch.randn(2, 3, 8), torch.rand(2, 16, 16, 3),
    torch.tensor([True, False]), torch.rand(2, 4) < 0.5,
)
compiled = torch.compile(network, backend="aot_eager", fullgraph=True)
torch.testing.assert_close(compiled(*given), network(*given))
print("one graph")
"""


@pytest.mark.slow
def test_the_network_can_be_compiled_in_one_graph():
    # In a process of its own: the run-time checks of shapes, on in tests, cannot be compiled.
    done = subprocess.run(
        [sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "one graph", done.stderr


class PerfectPrior(PriorTiny):
    """Knows the one video there is."""

    truth = torch.linspace(-0.9, 0.9, 4 * 16 * 16 * 3).view(1, 4, 16, 16, 3)

    def predict(self, latents, t, conditions):
        return self.truth.expand_as(latents)


def test_sampling_with_a_perfect_prior_gives_its_video():
    prior = PerfectPrior(random_network())
    condition = prior.condition("a fox walking")
    got = sample_latents(prior, [condition] * 2, torch.randn(2, 4, 16, 16, 3), steps=5)
    torch.testing.assert_close(got, prior.truth.expand(2, -1, -1, -1, -1))
    with pytest.raises(ValueError, match="1 conditions cannot serve 2 rows"):
        sample_latents(prior, [condition], torch.randn(2, 4, 16, 16, 3))


class GaussianPrior(PriorTiny):
    """Knows that every value is normal, with mean 0 and this standard deviation."""

    spread = 0.2

    def predict(self, latents, t, conditions):
        alpha, sigma = (v.view(-1, 1, 1, 1, 1) for v in self.signal(t))
        return self.spread**2 * alpha / (self.spread**2 * alpha**2 + sigma**2) * latents


def test_the_second_order_is_nearer_to_the_flow_of_a_gaussian_than_ddim():
    # Along the flow of a Gaussian, z / sqrt(s^2 alpha^2 + sigma^2) does not change. The clean
    # estimates at the last step's time are compared, so that this estimate's own error is left out.
    prior = GaussianPrior(random_network())
    noise = torch.randn(1, 4, 16, 16, 3, generator=torch.Generator().manual_seed(0))
    condition = prior.condition("a fox walking")

    def error(order: Literal[1, 2]) -> float:
        clean = sample_latents(
            prior, [condition], noise, steps=20, order=order, scale=1.0, first=0.9
        )
        last, wanted = torch.tensor([0.9 / 20]), noise
        for time, power in ((torch.tensor([0.9]), -0.5), (last, 0.5)):
            alpha, sigma = prior.signal(time)
            wanted = wanted * (prior.spread**2 * alpha**2 + sigma**2) ** power
        return float((clean - prior.predict(wanted, last, [condition])).abs().mean())

    assert error(2) < 0.3 * error(1)
    assert error(1) < 0.1 * prior.spread


def test_rows_are_shared_out_between_threads(prior: PriorTiny):
    draw = torch.Generator().manual_seed(0)
    z, t = torch.randn(3, 4, 16, 16, 3, generator=draw), torch.tensor([0.2, 0.5, 0.8])
    asked = [prior.condition(f"a fox {word}") for word in ("walking", "trotting", "running")]
    given = KnownFrames(torch.rand(4, 16, 16, 3, generator=draw), torch.arange(4) < 2)
    asked[1] = with_known(prior, asked[1], given)
    alone = [prior.predict(z[k : k + 1], t[k : k + 1], [asked[k]])[0] for k in range(3)]
    with torch_threads(2):
        together = prior.predict(z, t, asked)
        assert torch.get_num_threads() == 2
    torch.testing.assert_close(together, torch.stack(alone), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(together[1, :2], 2.0 * given.video[:2] - 1.0)


def one_batch(rows: int) -> Batch:
    """The same striped video in every row."""
    stripes = torch.sin(torch.arange(16) * 1.3)[None, None, :, None].expand(4, 16, 16, 3)
    moving = torch.stack([stripes[t].roll(t, dims=1) for t in range(4)])
    return Batch(
        moving.expand(rows, -1, -1, -1, -1).contiguous(), moving[0].expand(rows, -1, -1, -1),
        torch.ones(rows, 3, dtype=torch.long), torch.zeros(rows, dtype=torch.long),
    )  # fmt: skip


@pytest.mark.slow
def test_training_learns_a_video_and_goes_on_from_where_it_was_saved(tmp_path: Path):
    settings = TrainSettings(batch=8, learning_rate=3e-3, warm_up=5)
    trainer = Trainer(SMALL, settings, device=torch.device("cpu"), seed=0)
    batch = one_batch(8)
    first = float(trainer.loss(batch).detach())
    for _ in range(60):
        trainer.step(batch, part=0.0)
    last = float(torch.stack([trainer.loss(batch).detach() for _ in range(5)]).mean())
    assert last < 0.25 * first
    trainer.save(tmp_path / "state.safetensors")
    again = Trainer(SMALL, settings, device=torch.device("cpu"), seed=1)
    again.restore(tmp_path / "state.safetensors")
    assert again.progress == trainer.progress
    for a, b in zip(again.average.parameters(), trainer.average.parameters(), strict=True):
        assert torch.equal(a, b)
    for one, other in zip(trainer.optimisers, again.optimisers, strict=True):
        kept = [
            {key: float(torch.as_tensor(value).sum()) for key, value in state.items()}
            for o in (one, other)
            for state in (o.state[p] for group in o.param_groups for p in group["params"])
        ]
        assert kept[: len(kept) // 2] == kept[len(kept) // 2 :]
        assert all(kept)
    again.step(batch, part=0.5)


def test_training_can_begin_with_the_weights_of_another(tmp_path: Path):
    settings = TrainSettings(batch=2)
    trainer = Trainer(SMALL, settings, device=torch.device("cpu"), seed=0)
    save_tiny(trainer.average, tmp_path)
    again = Trainer(SMALL, settings, device=torch.device("cpu"), seed=1)
    again.start_from(tmp_path)
    assert again.progress.step == 0
    for module in (again.network, again.average):
        for a, b in zip(module.parameters(), trainer.average.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-3)  # half precision
    other = Trainer(replace(SMALL, layers=1), settings, device=torch.device("cpu"), seed=1)
    with pytest.raises(ValueError, match="another network or vocabulary"):
        other.start_from(tmp_path)


@pytest.mark.slow
def test_training_from_creatures_to_card_very_small(tmp_path: Path):
    from akd.prior.tiny.card import write_card
    from akd.prior.tiny.settings import PoolSettings
    from akd.prior.tiny.train import train

    pool = PoolSettings(
        creatures=1, vertices=600, splats=100, styles=1, videos=6, videos_a_call=3, ready=3
    )
    settings = TrainSettings(batch=2, warm_up=1, sheet_rows=1, sheet_steps=2)
    # So little time that a step or two is all there is to it.
    network = train(
        tmp_path, minutes=100.0, stop_after=0.02, device=torch.device("cpu"), workers=0,
        tiny=SMALL, pool=pool, settings=settings, compiled=False,
    )  # fmt: skip
    assert has_weights(tmp_path / "weights")
    assert (tmp_path / "sheet.png").stat().st_size > 500
    about = json.loads((tmp_path / "training.json").read_text())
    assert about["creatures"] == 1
    assert not about["done"]
    loaded = load_tiny(tmp_path / "weights", dtype=torch.float32).network
    for a, b in zip(network.parameters(), loaded.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-3)
    card = write_card(tmp_path).read_text()
    assert "1 creatures of the zoo, seeds from 1000" in card
    assert "not measured" in card


class _Anatomy(Anatomy):
    """Nothing but limbs."""

    def __init__(self, *kinds: LimbKind) -> None:
        limbs = tuple(Limb(kind, Side.LEFT, (0,), 0) for kind in kinds)
        object.__setattr__(self, "limbs", limbs)


@pytest.mark.parametrize(
    ("limbs", "plans"),
    [
        ([LimbKind.LEG] * 2 + [LimbKind.ARM] * 2, ("biped",)),
        ([LimbKind.FORE] * 2 + [LimbKind.HIND] * 2, ("quadruped",)),
        ([LimbKind.MID] * 8, ("many-legged",)),
        ([LimbKind.LEG] * 2 + [LimbKind.WING] * 2, ("winged", "biped")),
        ([LimbKind.FIN] * 3, ("finned",)),
        ([], ("legless",)),
        ([LimbKind.LEG], ()),
    ],
)
def test_plans_of_bodies(limbs: list[LimbKind], plans: tuple[str, ...]):
    assert body_plans(_Anatomy(*limbs)) == plans


def test_bodies_and_actions_that_it_never_saw_are_warned_of():
    snake, bird = _Anatomy(), _Anatomy(*[LimbKind.LEG] * 2, LimbKind.WING)
    assert check_body(snake, "slither", TOKENS) is None
    assert check_body(bird, "fly", TOKENS) is None
    assert check_body(bird, None, TOKENS) is None
    assert check_body(snake, "pick_up", TOKENS) == (
        "the tiny prior never saw a legless body do 'pick up': its motion is a guess; such bodies "
        "do stand, slither, look around, attack"
    )
    assert check_body(_Anatomy(LimbKind.LEG), "walk", TOKENS) == (
        "the tiny prior never saw a body with 1 leg: its motion is a guess"
    )


needs_weights = pytest.mark.skipif(
    not has_weights(shipped_weights()), reason="needs the shipped weights of the tiny prior"
)


@needs_weights
def test_the_shipped_weights_are_small_and_load():
    folder = shipped_weights()
    assert sum(path.stat().st_size for path in folder.glob(PATTERN)) <= 40_000_000
    prior = load_tiny()
    assert (prior.frames, prior.width, prior.height) == (24, 96, 96)
    assert set(TOKENS) <= set(prior.tokens)
    assert (folder / "card.md").is_file()


@pytest.mark.slow
@needs_weights
def test_the_shipped_prior_removes_noise_from_a_true_video():
    from akd.prior.tiny.creatures import build_actor
    from akd.prior.tiny.film import film_actor
    from akd.prior.tiny.settings import CameraSettings, PoolSettings

    actor = build_actor("fox", 1, PoolSettings(vertices=1500, splats=2500, styles=1))
    prior = load_tiny(dtype=torch.float32)
    footage = film_actor(
        actor, 1, generator=torch.Generator().manual_seed(0), tiny=prior.network.settings,
        cameras=CameraSettings(), clips=[actor.actions.index("walk")],
    )  # fmt: skip
    z = prior.encode(footage.videos.float() / 255.0)
    noise = torch.randn(z.shape, generator=torch.Generator().manual_seed(1))
    t = torch.tensor([0.5])
    condition: Condition = prior.condition(
        "a fox walking", reference_image=footage.reference_images[0].float() / 255.0
    )
    clean = prior.predict(prior.add_noise(z, noise, t), t, [condition])
    assert float(((clean - z) ** 2).mean()) < 0.01


@pytest.mark.slow
@needs_weights
def test_the_shipped_prior_makes_a_walk_that_recogniser_b_names():
    """One sample, in the precision and with the recogniser that users get: broken weights show."""
    from akd.metrics.recognise.recogniser import has_recogniser, load_recogniser
    from akd.prior.tiny.creatures import build_actor
    from akd.prior.tiny.film import film_actor
    from akd.prior.tiny.settings import CameraSettings, PoolSettings

    assert has_recogniser("b")
    actor = build_actor("fox", 1, PoolSettings(vertices=1500, splats=2500, styles=1))
    prior = load_tiny()
    generator = torch.Generator().manual_seed(0)
    footage = film_actor(
        actor, 1, generator=generator, tiny=prior.network.settings, cameras=CameraSettings(),
        vary=False, clips=[actor.actions.index("walk")],
    )  # fmt: skip
    condition = prior.condition(
        "a fox walking", reference_image=footage.reference_images[0].float() / 255.0
    )
    made = sample_videos(prior, [condition], generator=generator, steps=12)
    assert load_recogniser("b").names(made) == ["walk"]


def test_weights_and_card_belong_to_the_wheel():
    """Hatch puts every file of `packages` into the wheel that git does not ignore."""
    import tomllib
    from importlib import resources

    root = Path(__file__).resolve().parents[2]
    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert wheel == {"targets": {"wheel": {"packages": ["src/akd"]}}}  # nothing is left out
    tiny = resources.files("akd.prior") / "weights"
    judges = resources.files("akd.metrics.recognise") / "weights"
    shipped = [tiny / "tiny-1.safetensors", *shipped_weights().glob(PATTERN), tiny / "card.md"]
    shipped += [judges / f"recogniser-{name}.safetensors" for name in "abc"]
    for file in shipped:
        assert Path(str(file)).is_file(), file
    listed = subprocess.run(
        ["git", "ls-files", "--error-unmatch", *map(str, shipped)],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if (root / ".git").exists():
        assert listed.returncode == 0, listed.stderr
