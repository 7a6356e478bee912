"""Teaching the sequence encoder what belongs together: at every noun, the thing's colour, size, fill and place.

Without it the tiers learned colours and shapes early but for a long time gave them to the wrong one of two things. The
two linear layers are thrown away after training.
"""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from transformers import T5EncoderModel
from typing_extensions import override

from shapes.captions import parse
from shapes.scenes import Scene
from shapes.train.course import Course, Figures, follow
from shapes.train.networks import TEXT_WIDTH
from shapes.train.words import LENGTH, VOCABULARY
from shapes.vocabulary import PLURALS, SHAPE_WORDS, Colour, Fill, Relation, Size

_COLOURS = tuple(Colour)
_SIZES = (None, *Size)
_FILLS = (None, *Fill)
_PLACES = {
    None: ("anywhere",),
    Relation.LEFT_OF: ("left", "right"),
    Relation.RIGHT_OF: ("right", "left"),
    Relation.ABOVE: ("top", "bottom"),
    Relation.BELOW: ("bottom", "top"),
    Relation.ROW: ("first", "middle", "last"),
}
_PLACE_NAMES = tuple(dict.fromkeys(place for places in _PLACES.values() for place in places))
_NOUNS = {VOCABULARY[word] for word in (*SHAPE_WORDS, *PLURALS)}
_IGNORED = -1
_SCHOOL_RATE = 1.5e-3
_SCHOOL_BATCH = 96
_LIKENESS = 0.3
QUESTIONS = (len(_COLOURS), len(_SIZES), len(_FILLS), len(_PLACE_NAMES))


class Grounding(nn.Module):
    """Linear probes on the encoder's states, one per question."""

    def __init__(self) -> None:
        super().__init__()
        self.probes = nn.Linear(TEXT_WIDTH, sum(QUESTIONS))

    @override
    def forward(self, states: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy.

        Args:
            states: The sequence encoder's, [B, 20, 128].
            answers: int64 [B, 20, 4], -1 where nothing is asked.
        """
        logits = self.probes(states).flatten(0, 1).split(QUESTIONS, dim=-1)
        wanted = answers.flatten(0, 1).unbind(-1)
        pairs = zip(logits, wanted, strict=True)
        losses = [functional.cross_entropy(logit, answer, ignore_index=_IGNORED) for logit, answer in pairs]
        return torch.stack(losses).mean()


def school(
    encoder: T5EncoderModel, tokens: NDArray[np.uint8], course: Course, old: T5EncoderModel | None = None
) -> Grounding:
    """Train `encoder` alone to answer; returns the probes. About a minute: it must happen before the transformer's.

    Args:
        encoder: Changed in place.
        tokens: T5 ids, [N, 20].
        course: How long; its checkpoint holds both.
        old: An encoder whose states the new one's should stay close to, so that a transformer can go on with it.
    """
    torch.manual_seed(course.seed)
    grounding = Grounding()
    answers = answers_of(tokens)
    learned = [*encoder.parameters(), *grounding.parameters()]
    learner = torch.optim.AdamW(learned, _SCHOOL_RATE, betas=(0.9, 0.98))

    def step(number: int) -> Figures:
        for group in learner.param_groups:
            group["lr"] = _SCHOOL_RATE * course.schedule(number, decay=0.3)
        chosen = np.random.default_rng([course.seed, number]).integers(len(tokens), size=_SCHOOL_BATCH)
        ids = torch.from_numpy(tokens[chosen].astype(np.int64))
        states = encoder(ids).last_hidden_state
        doubt = grounding(states, torch.from_numpy(answers[chosen].astype(np.int64)))
        loss = doubt if old is None else doubt + _LIKENESS * _distance(states, old, ids)
        learner.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        learner.step()
        return {"grounding": doubt.item()}

    follow(course, {"encoder": encoder, "grounding": grounding, "learner": learner}, step)
    return grounding


def _distance(states: torch.Tensor, old: T5EncoderModel, ids: torch.Tensor) -> torch.Tensor:
    """Mean squared distance of [B, 20, 128] to the old encoder's states, as a share of their variance."""
    with torch.no_grad():
        wanted = old(ids).last_hidden_state
    return (states - wanted).square().mean() / wanted.var((0, 1)).mean()


def answers_of(tokens: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return int8 [N, 20, 4], colour, size, fill and place at every noun and -1 elsewhere, for T5 ids [N, 20]."""
    words = list(VOCABULARY)
    answers = np.full((len(tokens), LENGTH, len(QUESTIONS)), _IGNORED, np.int8)
    for row, ids in enumerate(tokens.tolist()):
        end = ids.index(VOCABULARY["<eos>"])
        if end == 0:
            continue
        facts = _facts(parse(" ".join(words[token] for token in ids[:end])))
        nouns = [at for at, token in enumerate(ids[:end]) if token in _NOUNS]
        for at, fact in zip(nouns, facts, strict=False):
            answers[row, at] = fact
    return answers


@cache
def _facts(scene: Scene) -> tuple[tuple[int, int, int, int], ...]:
    places = _PLACES[scene.relation]
    return tuple(
        (
            _COLOURS.index(thing.colour),
            _SIZES.index(thing.size),
            _FILLS.index(thing.fill),
            _PLACE_NAMES.index(places[at] if scene.relation else places[0]),
        )
        for at, thing in enumerate(scene.things)
    )
