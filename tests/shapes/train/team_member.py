"""What one member of a team does in `test_team`: average, gather, and step with Muon; started by torchrun."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from shapes.train import team
from shapes.train.muon import Muon


def stepped(count: int, factor: float) -> list[torch.Tensor]:
    """`count` matrices after one Muon step along the team's mean of gradients `factor` times as large."""
    source = torch.Generator().manual_seed(6)
    matrices = [torch.nn.Parameter(torch.randn(12, 8, generator=source)) for _ in range(count)]
    for matrix in matrices:
        matrix.grad = factor * torch.randn(12, 8, generator=source)
    team.average_gradients(matrices)
    Muon(matrices, lr=0.1).step()
    return [matrix.detach() for matrix in matrices]


def refused(count: int) -> bool:
    """Whether the team refuses to share `count`."""
    try:
        team.share(count)
    except ValueError:
        return True
    return False


def main(folder: Path) -> None:
    """Write what this member has afterwards; member 0's gradients are as they are, member 1's three times as large."""
    team.join()
    own = 1.0 + 2 * team.rank()
    seen = {
        "size": team.size(),
        "share": team.share(10),
        "refused": refused(3),
        "gathered": team.gather(torch.tensor([team.rank(), 10 + team.rank()])),
        "even": stepped(4, own),
        "odd": stepped(3, own),
    }
    team.wait()
    torch.save(seen, folder / f"{team.rank()}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
