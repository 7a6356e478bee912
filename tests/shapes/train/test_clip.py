import numpy as np
import pytest
import torch

from shapes.captions import caption
from shapes.train.clip import FEATURES, contrast, features, new_clip, normalise
from shapes.train.pictures import draw
from shapes.train.words import clip_tokenizer, encode

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def clip():
    torch.manual_seed(1)
    return new_clip().eval().requires_grad_(requires_grad=False)


def test_features_begin_with_the_embedding_and_go_on_with_the_patches(clip):
    pixels = normalise(draw(1, 0, 5).pictures)
    seen = features(clip, pixels)

    assert seen.shape == (5, FEATURES)
    torch.testing.assert_close(seen[:, :128].norm(dim=-1), torch.ones(5))
    torch.testing.assert_close(seen[:, :128], clip.encode_image(pixels, normalize=True))
    means, highest = seen[:, 128:256], seen[:, 256:]
    assert torch.all(highest >= means)
    assert means.std() > 0


def test_asking_for_features_does_not_change_what_the_clip_gives_afterwards(clip):
    pixels = normalise(draw(1, 0, 2).pictures)
    before = clip.encode_image(pixels)
    features(clip, pixels)

    assert torch.equal(clip.encode_image(pixels), before)


def test_a_clip_that_knows_nothing_loses_what_guessing_loses(clip):
    loss, right = contrast(clip, clip_tokenizer(), 1, 0, 16)

    assert loss.item() == pytest.approx(np.log(32) + np.log(16), rel=0.5)
    assert 0 <= right <= 1


def test_padding_does_not_change_a_captions_embedding(clip):
    ids = torch.from_numpy(encode(clip_tokenizer(), [caption(scene) for scene in draw(1, 0, 3).scenes]))
    together = clip.encode_text(ids, normalize=True)

    torch.testing.assert_close(clip.encode_text(ids[1:2], normalize=True), together[1:2], rtol=1e-4, atol=1e-5)
