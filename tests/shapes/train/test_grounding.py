import numpy as np
import pytest
import torch

from shapes.train.grounding import QUESTIONS, Grounding, answers_of
from shapes.train.networks import TEXT_WIDTH
from shapes.train.words import LENGTH, encode, t5_tokenizer
from shapes.vocabulary import Colour

pytestmark = pytest.mark.engine

SIZES = {None: 0, "small": 1, "large": 2}
FILLS = {None: 0, "striped": 1, "dotted": 2, "outlined": 3}
PLACES = {name: at for at, name in enumerate(("anywhere", "left", "right", "top", "bottom", "first", "middle", "last"))}


def answered(text):
    """What is answered about a caption: per word that has answers, its position and the four of them."""
    answers = answers_of(encode(t5_tokenizer(), [text]).astype(np.uint8))[0]
    return {at: tuple(row) for at, row in enumerate(answers.tolist()) if any(value >= 0 for value in row)}


def fact(colour, size=None, fill=None, place="anywhere"):
    return (list(Colour).index(colour), SIZES[size], FILLS[fill], PLACES[place])


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a red circle", {2: fact("red")}),
        ("a large striped violet disc", {4: fact("purple", "large", "striped")}),
        ("a picture of two little spotted blue stars on a navy background", {7: fact("blue", "small", "dotted")}),
        (
            "a large red circle to the left of an outlined blue star",
            {3: fact("red", "large", place="left"), 11: fact("blue", fill="outlined", place="right")},
        ),
        ("a red star below a blue star", {2: fact("red", place="bottom"), 6: fact("blue", place="top")}),
        (
            "a red star, a blue star and a pink heart in a row",
            {2: fact("red", place="first"), 6: fact("blue", place="middle"), 10: fact("pink", place="last")},
        ),
        ("", {}),
    ],
)
def test_every_noun_is_asked_for_its_colour_size_fill_and_place(text, facts):
    assert answered(text) == facts


def test_the_loss_is_the_mean_over_the_questions_and_ignores_what_is_not_asked():
    grounding = Grounding()
    torch.nn.init.zeros_(grounding.probes.weight)
    torch.nn.init.zeros_(grounding.probes.bias)
    states = torch.randn(2, LENGTH, TEXT_WIDTH)
    answers = torch.full((2, LENGTH, len(QUESTIONS)), -1)
    answers[1, 3] = torch.tensor([1, 1, 1, 1])

    expected = np.mean([np.log(count) for count in QUESTIONS])
    assert grounding(states, answers).item() == pytest.approx(expected, rel=1e-5)
    assert QUESTIONS == (8, 3, 4, 8)
