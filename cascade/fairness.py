"""Who is served next: among tenants by start-time fair queueing, within a tenant by deadline.

Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996) in a pool's virtual time, which is work per weight. A
tenant that queues after a pause starts at the pool's virtual time, or where its own last served work ended if that is
later; whoever starts earliest is served. So over any stretch in which two tenants both have work, what they get differs
from their weights' shares by no more than one picture each, however much either queues.

This is the queue as a simulator runs it, and what the Lua of `adapters` is held to.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field

from cascade.jobs import TenantId

TICKS = 1000
"""Virtual ticks of one GPU-millisecond at weight 1."""


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """A picture that waits for its stage.

    Attributes:
        deadline_ms: Unix milliseconds; the tenant's earliest goes first.
        name: breaks ties.
        tenant: whose it is.
        gpu_ms: predicted work of the stage.
        weight: the tenant's share, 1 to 1000.
    """

    deadline_ms: int
    name: str
    tenant: TenantId = field(compare=False)
    gpu_ms: int = field(compare=False)
    weight: int = field(compare=False, default=1)


def ticks(gpu_ms: int, weight: int) -> int:
    """How far a tenant's virtual time moves when it is served; at least one tick."""
    return max(1, gpu_ms * TICKS // weight)


class FairQueue:
    """One pool's queue."""

    def __init__(self) -> None:
        self._now = 0
        self._finish: dict[TenantId, int] = {}
        self._start: dict[TenantId, int] = {}
        self._waiting: defaultdict[TenantId, list[Task]] = defaultdict(list)

    def __len__(self) -> int:
        return sum(len(tasks) for tasks in self._waiting.values())

    def put(self, task: Task) -> None:
        """Queue a task."""
        if task.tenant not in self._start:
            self._start[task.tenant] = max(self._now, self._finish.get(task.tenant, 0))
        heapq.heappush(self._waiting[task.tenant], task)

    def put_back(self, task: Task) -> None:
        """Queue a task again that was served for nothing: its worker died or stopped. Its tenant has not had it."""
        given = ticks(task.gpu_ms, task.weight)
        if task.tenant in self._finish:
            self._finish[task.tenant] -= given
        if task.tenant in self._start:
            self._start[task.tenant] = max(self._now, self._start[task.tenant] - given)
        self.put(task)

    def take(self) -> Task | None:
        """Serve the tenant that starts earliest; the first by name among equals."""
        if not self._start:
            return None
        tenant = min(self._start, key=lambda name: (self._start[name], name))
        task = heapq.heappop(self._waiting[tenant])
        self._now = self._start[tenant]
        self._finish[tenant] = self._now + ticks(task.gpu_ms, task.weight)
        self._settle(tenant)
        return task

    def drop(self, task: Task) -> None:
        """Forget a task that was cancelled; an unknown one is none."""
        waiting = self._waiting[task.tenant]
        if task in waiting:
            waiting.remove(task)
            heapq.heapify(waiting)
        if not waiting:
            self._start.pop(task.tenant, None)

    def _settle(self, tenant: TenantId) -> None:
        """Where the tenant stands after it was served."""
        if self._waiting[tenant]:
            self._start[tenant] = self._finish[tenant]
        else:
            del self._start[tenant]
