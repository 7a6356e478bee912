"""Two processes train one model, and each ends with the same one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from shapes.train import team
from tests.shapes.train.team_member import stepped

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


def test_alone_nothing_is_joined_averaged_or_gathered():
    team.join()
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.tensor([1.0, 2.0])
    team.average_gradients([weight])
    team.wait()

    assert (team.size(), team.rank(), team.share(3)) == (1, 0, 3)
    assert weight.grad.tolist() == [1.0, 2.0]
    assert team.gather(weight) is weight


@pytest.mark.slow
def test_members_average_gather_in_order_and_step_as_one_would_with_the_mean(tmp_path):
    started = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    member = ["-m", "tests.shapes.train.team_member", str(tmp_path)]
    subprocess.run([*started, *member], cwd=ROOT, check=True, capture_output=True, timeout=500)
    members = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]

    for seen in members:
        assert (seen["size"], seen["share"], seen["refused"]) == (2, 5, True)
        assert seen["gathered"].tolist() == [0, 10, 1, 11]
        for name, count in (("even", 4), ("odd", 3)):
            torch.testing.assert_close(seen[name], stepped(count, 2.0), rtol=1e-4, atol=1e-6)
