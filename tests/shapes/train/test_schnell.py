import numpy as np
import pytest
import torch

from shapes.captions import parse
from shapes.scenes import Difficulty
from shapes.train import schnell
from shapes.train.flow import sigmas
from shapes.train.networks import HEAVY, LIGHT, Generator
from shapes.train.words import decode
from tests.shapes.train.runs import write_untrained

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


def test_the_teacher_passes_through_every_level_of_the_student():
    teachers = sigmas(schnell._TEACHER_STEPS)
    stride, left_over = divmod(schnell._TEACHER_STEPS, schnell.STEPS)

    assert left_over == 0
    assert teachers[::stride] == pytest.approx(sigmas(schnell.STEPS))


@pytest.mark.parametrize("count", [8, 1])
def test_a_batch_may_be_of_any_size_even_if_none_of_it_starts_where_the_student_got_to(tmp_path, count):
    write_untrained(tmp_path)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    paths = schnell.Bank.open(tmp_path).draw(rng, count, 0.5)
    loss = schnell._segment_loss(Generator(LIGHT), Generator(HEAVY), paths, rng)

    assert np.isfinite(loss.item())


def test_the_student_starts_as_its_teachers_first_and_last_blocks():
    teacher = Generator(HEAVY)
    student = schnell.pruned(teacher, HEAVY, LIGHT)

    for kind, place, theirs in (
        ("transformer_blocks", 0, 0),
        ("single_transformer_blocks", 0, HEAVY.single - LIGHT.single),
        ("single_transformer_blocks", LIGHT.single - 1, HEAVY.single - 1),
    ):
        mine = getattr(student.transformer, kind)[place].state_dict()
        kept = getattr(teacher.transformer, kind)[theirs].state_dict()
        assert mine.keys() == kept.keys()
        assert all(torch.equal(mine[name], kept[name]) for name in mine)
    assert torch.equal(student.sequence_encoder.shared.weight, teacher.sequence_encoder.shared.weight)


def test_a_draw_from_the_bank_is_as_easy_as_asked(tmp_path):
    write_untrained(tmp_path)
    bank = schnell.Bank.open(tmp_path)

    easy = bank.draw(np.random.default_rng(0), 64, 1.0).ids

    assert {parse(text).difficulty for text in decode(easy)} == {Difficulty.EASY}
