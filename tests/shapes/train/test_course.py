from itertools import pairwise

import pytest
import torch

from shapes.train.course import Average
from tests.shapes.train.runs import course

pytestmark = pytest.mark.engine


def rates(tmp_path, steps, **shape):
    lessons = course(tmp_path, "walk", steps)
    return [lessons.schedule(step, **shape) for step in range(steps)]


def test_the_rate_rises_in_a_straight_line_and_stays_until_it_falls(tmp_path):
    shares = rates(tmp_path, 100, warm_up=10, decay=0.5)

    assert shares[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert shares[10:51] == [1.0] * 41
    assert all(later < earlier for earlier, later in pairwise(shares[50:]))


def test_the_rate_falls_like_half_a_cosine_to_its_floor(tmp_path):
    shares = rates(tmp_path, 1000, warm_up=1, floor=0.1)

    assert shares[0] == 1.0
    assert shares[500] == pytest.approx((1 + 0.1) / 2)
    assert shares[250] - shares[500] == pytest.approx(0.45 * 0.5**0.5, abs=1e-6), "cos 45°"
    assert shares[-1] == pytest.approx(0.1, abs=1e-4)
    assert min(shares) >= 0.1


def test_a_course_shorter_than_its_warm_up_still_has_a_rate(tmp_path):
    assert 0 < min(rates(tmp_path, 3)) < max(rates(tmp_path, 3)) < 1


def averaged(decay, values):
    """The average of a module whose only parameter takes `values` one after the other, the first before any update."""
    module = torch.nn.Linear(1, 1, bias=False)
    module.weight.data.fill_(values[0])
    average = Average(module, decay)
    for value in values[1:]:
        module.weight.data.fill_(value)
        average.update()
    return average


def test_the_average_forgets_early_steps_faster_than_late_ones():
    average = averaged(0.9, [0.0, 1.0])

    assert average.parameters["weight"].item() == pytest.approx(1 - 2 / 11), "at first it keeps 2 in 11"


def test_the_average_of_many_steps_is_exponential_with_its_decay():
    settled, stepped = averaged(0.9, [0.0] * 200), averaged(0.9, [0.0] * 200 + [1.0])

    assert settled.parameters["weight"].item() == 0
    assert stepped.parameters["weight"].item() == pytest.approx(0.1, abs=1e-6)


def test_the_average_of_what_does_not_change_is_that():
    assert averaged(0.99, [0.25] * 30).parameters["weight"].item() == pytest.approx(0.25)


def test_the_average_leaves_the_module_alone_and_comes_back_from_its_state():
    module = torch.nn.Linear(2, 2)
    before = module.weight.clone()
    average = Average(module, 0.5)
    average.update()
    again = Average(torch.nn.Linear(2, 2), 0.5)
    again.load_state_dict(average.state_dict())

    assert torch.equal(module.weight, before)
    assert torch.equal(again.parameters["weight"], average.parameters["weight"])
    assert again.state_dict()["updates"] == 1
