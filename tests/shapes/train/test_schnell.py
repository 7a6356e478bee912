import numpy as np
import pytest
import torch

from shapes.train import schnell
from shapes.train.flow import sigmas
from shapes.train.networks import LIGHT, Generator
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
    loss = schnell._segment_loss(Generator(LIGHT), schnell.Bank.open(tmp_path), np.random.default_rng(0), count)

    assert np.isfinite(loss.item())
