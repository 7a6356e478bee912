"""Word-level tokenizers over the vocabulary: one layout for CLIP-like encoders, one for T5-like encoders.

Ids: 0 `<pad>`, 1 `<unk>`, 2 `<bos>`, then the words, and the highest id is `<eos>`, as CLIP's pooling expects.
Padding, truncation and the template are part of the tokenizer, so `tokenizers` alone gives the pipeline's ids.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from shapes.vocabulary import MAX_WORDS, WORDS

LENGTH: Final = MAX_WORDS + 2
PAD, UNKNOWN, BEGIN, END = "<pad>", "<unk>", "<bos>", "<eos>"
VOCABULARY: Final[dict[str, int]] = {word: number for number, word in enumerate((PAD, UNKNOWN, BEGIN, *WORDS, END))}


def clip_tokenizer() -> Tokenizer:
    """Return `<bos> words <eos>`, padded to 20."""
    return _tokenizer(f"{BEGIN} $A {END}")


def t5_tokenizer() -> Tokenizer:
    """Return `words <eos>`, padded to 20."""
    return _tokenizer(f"$A {END}")


def _tokenizer(template: str) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(".", "")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    specials = [(token, VOCABULARY[token]) for token in (BEGIN, END)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, pair=f"{template} $B", special_tokens=specials
    )
    tokenizer.enable_padding(pad_id=VOCABULARY[PAD], pad_token=PAD, length=LENGTH)
    tokenizer.enable_truncation(LENGTH)
    return tokenizer


def encode(tokenizer: Tokenizer, captions: Sequence[str]) -> NDArray[np.int64]:
    """Return int64 [B, 20] token ids."""
    return np.asarray([encoding.ids for encoding in tokenizer.encode_batch(list(captions))], np.int64)


def clip_ids_of(t5_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn T5 ids into CLIP ids of the same captions: int64 [B, 20] → int64 [B, 20]."""
    begin = np.full((len(t5_ids), 1), VOCABULARY[BEGIN], np.int64)
    return np.concatenate([begin, t5_ids[:, :-1]], axis=1)


def decode(t5_ids: NDArray[np.integer]) -> list[str]:
    """Return the captions of ids [N, 20] in the T5 layout, commas set apart."""
    words = {number: word for word, number in VOCABULARY.items()}
    rows = ([words[number] for number in row] for row in t5_ids.tolist())
    return [" ".join(row[: row.index(END)]) for row in rows]
