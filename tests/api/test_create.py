"""`akd.create`: Shap-E in its real classes with random weights, and other generators."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import akd
from akd.asset.read import read_asset
from akd.cli import main
from akd.prior.large.errors import PriorError
from akd.prior.large.shap_e import shap_e_mesh
from tests.zoo.menagerie import creature


@pytest.fixture
def shap_e(tmp_path: Path) -> Path:
    """A pipeline of Shap-E with tiny random networks."""
    diffusers = pytest.importorskip("diffusers")
    transformers = pytest.importorskip("transformers")
    from diffusers.pipelines.shap_e import ShapERenderer

    folder = tmp_path
    words = folder / "words"
    words.mkdir()
    vocabulary = ["<|startoftext|>", "<|endoftext|>", "a</w>", "n</w>", "a", "n"]
    (words / "vocab.json").write_text(json.dumps({w: i for i, w in enumerate(vocabulary)}))
    (words / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(words / "vocab.json"), str(words / "merges.txt"))
    tokenizer.model_max_length = 16
    torch.manual_seed(0)
    text = transformers.CLIPTextConfig(
        vocab_size=6, hidden_size=32, intermediate_size=37, projection_dim=16, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=16, bos_token_id=0, eos_token_id=1,
        pad_token_id=1,
    )  # fmt: skip
    prior = diffusers.PriorTransformer(
        num_attention_heads=2, attention_head_dim=16, embedding_dim=16, num_embeddings=32,
        embedding_proj_dim=16, time_embed_dim=64, num_layers=1, clip_embed_dim=32,
        additional_embeddings=0, time_embed_act_fn="gelu", norm_in_type="layer",
        encoder_hid_proj_type=None, added_emb_type=None,
    )  # fmt: skip
    renderer = ShapERenderer(
        param_shapes=((8, 93), (8, 8), (8, 8), (8, 8)), d_latent=16, d_hidden=8, n_output=12
    )
    with torch.no_grad():
        for values in renderer.mlp.parameters():
            values.normal_(0.0, 0.5)
        renderer.mlp.mlp[-1].bias[0] = 0.5  # of the signed distance: something is inside
    scheduler = diffusers.HeunDiscreteScheduler(
        beta_schedule="exp", num_train_timesteps=1024, prediction_type="sample",
        use_karras_sigmas=True, clip_sample=True, clip_sample_range=1.0,
    )  # fmt: skip
    pipeline = diffusers.ShapEPipeline(
        prior=prior,
        text_encoder=transformers.CLIPTextModelWithProjection(text),
        tokenizer=tokenizer,
        scheduler=scheduler,
        shap_e_renderer=renderer,
    )
    pipeline.save_pretrained(folder / "weights", safe_serialization=True)
    return folder / "weights"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of diffusers' Heun scheduler
def test_shap_e_without_its_table_of_cubes_makes_no_surface(shap_e):
    """The cases of marching cubes are part of the published weights, and zero without them."""
    with pytest.raises(PriorError, match="'an a': Shap-E made no surface; try another seed"):
        shap_e_mesh("an a", weights=shap_e, steps=2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_shap_e_makes_a_coloured_mesh(shap_e, monkeypatch):
    """All of Shap-E with random weights; scikit-image has the table of cubes."""
    from diffusers.pipelines.shap_e import renderer
    from skimage.measure import marching_cubes

    def decode(self, field, min_point, size):
        vertices, faces, *_ = marching_cubes(field.numpy(), 0.0)
        inside = torch.from_numpy(vertices.copy()).float() / (len(field) - 1)
        found = torch.from_numpy(faces.astype(np.int64))
        return renderer.MeshDecoderOutput(inside * size + min_point, found, None)

    monkeypatch.setattr(renderer.MeshDecoder, "forward", decode)
    vertices, faces, colours = shap_e_mesh("an a", weights=shap_e, steps=2)
    assert len(faces) > 100
    assert faces.max() < len(vertices) == len(colours)
    assert np.isfinite(vertices).all()
    assert np.ptp(vertices, axis=0).min() > 0.5
    assert colours.min() >= 0.0
    assert colours.max() <= 1.0


@pytest.mark.slow
def test_weights_that_are_missing_are_one_line(tmp_path, capsys):
    words = ["create", "an ostrich", "-o", str(tmp_path / "a.glb")]
    assert main([*words, "--weights", str(tmp_path)]) == 2
    assert "no model_index.json" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_another_generator_and_floaters(tmp_path):
    animal = creature("ostrich")
    vertices, faces = animal.mesh.vertices.numpy(), animal.mesh.faces.numpy()
    speck = np.array(((5.0, 5, 5), (5.1, 5, 5), (5, 5.1, 5)))
    given = []

    def generate(prompt: str, seed: int):
        given.append((prompt, seed))
        points = np.concatenate((vertices, speck))
        corners = np.concatenate((faces, [[len(vertices), len(vertices) + 1, len(vertices) + 2]]))
        return points, corners, np.full((len(points), 3), 0.5)

    made = akd.create("an ostrich", generator=generate, seed=3)
    assert given == [("an ostrich", 3)]
    assert float(made.result.mesh.vertices.abs().max()) < 4.9
    (path,) = made.save(tmp_path / "ostrich.glb")
    assert read_asset(path).skins


def test_animate_needs_a_prompt_or_a_character(tmp_path, capsys):
    assert main(["animate", "fox.glb", "-o", str(tmp_path / "o")]) == 2
    assert "a prompt is missing" in capsys.readouterr().err
    words = ["animate", "fox.glb", "a fox", "--create", "an ostrich", "-o", str(tmp_path / "o")]
    assert main(words) == 2
    assert "leave FILE out" in capsys.readouterr().err


def test_animate_names_its_own_options_for_the_weights(tmp_path, capsys, monkeypatch):
    words = ["animate", "--create", "an ostrich", "an ostrich running", "-o", str(tmp_path / "o")]
    assert main([*words, "--create-weights", str(tmp_path)]) == 2
    assert "no model_index.json" in capsys.readouterr().err
    monkeypatch.setattr("akd.prior.large.shap_e.HUB", "akd/no-such-model")
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said == (
        "akd: Shap-E's weights are missing: give --create-weights FOLDER, or --create-download to "
        "fetch akd/no-such-model\n"
    )
    assert not list(tmp_path.iterdir())
