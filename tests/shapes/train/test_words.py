"""The tokenizers give, by themselves, the ids FluxPipeline and open_clip ask transformers for."""

import numpy as np
import pytest

from shapes.train.folders import wrap
from shapes.train.words import LENGTH, VOCABULARY, clip_ids_of, clip_tokenizer, encode, t5_tokenizer
from shapes.vocabulary import MAX_WORDS, WORDS

pytestmark = pytest.mark.engine

CAPTIONS = [
    "a large striped red circle on a white background",
    "A Turquoise star, a violet disc and a pink heart.",
    "an elephant above a red star",
    "",
    " ".join(["red"] * 40),
]
TOKENIZERS = {"clip": clip_tokenizer, "t5": t5_tokenizer}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_the_ids_are_those_flux_pipeline_asks_for(kind):
    wrapped = wrap(TOKENIZERS[kind]())
    asked = wrapped(CAPTIONS, padding="max_length", max_length=LENGTH, truncation=True, return_tensors="np")

    assert np.array_equal(encode(TOKENIZERS[kind](), CAPTIONS), asked.input_ids)


def test_clips_layout_is_bos_words_eos_and_t5s_lacks_the_bos():
    red, star = VOCABULARY["red"], VOCABULARY["star"]
    clip, t5 = (encode(make(), ["red star."])[0].tolist() for make in TOKENIZERS.values())

    assert clip == [2, red, star, VOCABULARY["<eos>"]] + [0] * (LENGTH - 4)
    assert t5 == [red, star, VOCABULARY["<eos>"]] + [0] * (LENGTH - 3)


def test_clip_ids_can_be_had_from_t5_ids():
    captions = CAPTIONS[:-1]

    assert np.array_equal(clip_ids_of(encode(t5_tokenizer(), captions)), encode(clip_tokenizer(), captions))


def test_every_word_is_one_token_of_its_own_and_others_are_unknown():
    ids = encode(t5_tokenizer(), WORDS)[:, 0].tolist()

    assert ids == [VOCABULARY[word] for word in WORDS]
    assert len(set(ids)) == len(WORDS)
    assert encode(t5_tokenizer(), ["zebra"])[0, 0] == VOCABULARY["<unk>"]


def test_the_longest_caption_fits_with_both_its_ends():
    longest = [" ".join(["red"] * MAX_WORDS)]

    assert encode(clip_tokenizer(), longest)[0, -1] == VOCABULARY["<eos>"] == max(VOCABULARY.values())
