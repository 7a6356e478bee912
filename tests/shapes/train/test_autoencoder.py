import pytest
import torch

from shapes.train.autoencoder import new_autoencoder, train
from shapes.train.latents import load_autoencoder
from tests.shapes.train.runs import course, write_untrained

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


def test_a_picture_becomes_sixteen_channels_an_eighth_as_wide_whose_variance_is_fixed():
    vae = new_autoencoder().eval()
    with torch.no_grad():
        latents = vae.encode(torch.rand(2, 3, 64, 64) * 2 - 1).latent_dist

        assert latents.mean.shape == (2, 16, 8, 8)
        assert torch.all(latents.logvar == -6)
        assert vae.decode(latents.mean).sample.shape == (2, 3, 64, 64)


def test_sharpening_the_decoder_leaves_the_encoder_as_it_was_and_wins_over_the_older_one(tmp_path):
    write_untrained(tmp_path)
    before = load_autoencoder(tmp_path)
    train(course(tmp_path, "decoder", 2), 2, frozen=load_autoencoder(tmp_path))
    after = load_autoencoder(tmp_path)

    old, new = before.state_dict(), after.state_dict()
    changed = {name.split(".")[0] for name in old if not torch.equal(old[name], new[name])}
    assert changed == {"decoder"}
