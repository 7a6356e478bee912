"""Several processes training one model: `torchrun --nproc-per-node 2 -m shapes.train …`.

On small convolutions two single-threaded processes are nearly twice as fast as one process with two threads. Each
member sees its own part of the stream and the gradients are averaged, so the team's batch is the sum of its members'.
"""

from collections.abc import Iterable

import torch
from torch import distributed


def join() -> None:
    """Join the team torchrun started, with one thread per member; alone, do nothing."""
    if distributed.is_torchelastic_launched() and not distributed.is_initialized():
        torch.set_num_threads(1)
        distributed.init_process_group("gloo")


def size() -> int:
    """How many members train; 1 alone."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def share(count: int) -> int:
    """Return how many of `count` each member takes.

    Raises:
        ValueError: they do not divide evenly, so some would be left out.
    """
    mine, left = divmod(count, size())
    if left:
        raise ValueError(f"a team of {size()} cannot share {count} evenly")
    return mine


def rank() -> int:
    """Which member this is, from 0; member 0 writes and speaks."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def average_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    """Replace every gradient by its mean over the team."""
    if size() == 1:
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
    distributed.all_reduce(flat)
    flat /= size()
    for gradient, fresh in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(fresh.view_as(gradient))


def gather(mine: torch.Tensor) -> torch.Tensor:
    """Concatenate every member's tensor along the first axis, in the order of ranks; all have one shape."""
    if size() == 1:
        return mine
    parts = [torch.empty_like(mine) for _ in range(size())]
    distributed.all_gather(parts, mine)
    return torch.cat(parts)


def wait() -> None:
    """Wait for every member."""
    if size() > 1:
        distributed.barrier()
