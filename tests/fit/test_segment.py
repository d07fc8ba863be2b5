"""Masks by a SAM 2 video model: loaded from a folder and called as transformers defines it."""

import pytest
import torch

from akd.fit.segment import segment

transformers = pytest.importorskip("transformers")

SIDE = 64
"""Of the images that the tiny model computes on."""
WIDTH = 128
"""Channels: memories have 64, as in all models of this class, and pointers are split into them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of the real class with few random weights, saved as transformers saves one."""
    torch.manual_seed(0)
    vision = transformers.Sam2VisionConfig(
        backbone_config=transformers.Sam2HieraDetConfig(
            hidden_size=4,
            image_size=[SIDE, SIDE],
            blocks_per_stage=[1, 1, 2, 1],
            embed_dim_per_stage=[4, 8, 16, 32],
            num_attention_heads_per_stage=[1, 1, 1, 1],
            window_size_per_stage=[4, 4, 4, 4],
            global_attention_blocks=[3],
        ),
        backbone_channel_list=[32, 16, 8, 4],
        backbone_feature_sizes=[[SIDE // 4] * 2, [SIDE // 8] * 2, [SIDE // 16] * 2],
        fpn_hidden_size=WIDTH,
    )
    config = transformers.Sam2VideoConfig(
        vision_config=vision,
        prompt_encoder_config={"hidden_size": WIDTH, "image_size": SIDE},
        mask_decoder_config={
            "hidden_size": WIDTH, "mlp_dim": 16, "num_attention_heads": 2,
            "iou_head_hidden_dim": 16,
        },
        image_size=SIDE,
        memory_attention_hidden_size=WIDTH,
        memory_attention_num_layers=1,
        memory_attention_feed_forward_hidden_size=16,
        memory_attention_rope_feat_sizes=[SIDE // 16] * 2,
        memory_encoder_hidden_size=WIDTH,
        memory_encoder_output_channels=64,
        mask_downsampler_embed_dim=WIDTH,
        memory_fuser_embed_dim=WIDTH,
        memory_fuser_intermediate_dim=16,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("sam2")
    model = transformers.Sam2VideoModel(config)
    with torch.no_grad():
        # Random weights may say that there is no object, and then all masks are empty.
        model.mask_decoder.pred_obj_score_head.proj_out.bias.fill_(10.0)
    model.save_pretrained(path)
    return path


def test_a_video_model_is_loaded_and_follows_the_point(folder):
    frames = torch.rand(3, 40, 56, 3, generator=torch.Generator().manual_seed(1))
    found = segment(frames, folder)
    assert found.masks.shape == (3, 40, 56)
    assert found.source == "SAM 2 model"
    assert 0.0 <= float(found.masks.min()) <= float(found.masks.max()) <= 1.0
    assert 0.0 <= found.confidence <= 1.0
    assert not torch.equal(segment(frames, folder, point=(0.1, 0.9)).masks, found.masks)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no SAM 2 video model"):
        segment(torch.zeros(2, 16, 16, 3), tmp_path)
