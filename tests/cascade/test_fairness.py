"""What fair queueing promises, held to the queue that a simulator runs."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.fairness import FairQueue, Task, ticks
from cascade.jobs import TenantId

ONE, OTHER = TenantId("one"), TenantId("other")


def a_task(tenant=ONE, name="a", gpu_ms=100, deadline_ms=0, weight=1):
    return Task(deadline_ms, name, tenant, gpu_ms, weight)


def served(queue, count):
    return [task for task in (queue.take() for _ in range(count)) if task]


def test_an_empty_queue_serves_nothing():
    assert FairQueue().take() is None


def test_within_a_tenant_the_earliest_deadline_goes_first_and_names_break_ties():
    queue = FairQueue()
    for name, deadline in [("c", 2), ("b", 1), ("a", 2)]:
        queue.put(a_task(name=name, deadline_ms=deadline))

    assert [task.name for task in served(queue, 4)] == ["b", "a", "c"]


def test_a_flood_does_not_delay_another_tenant_by_more_than_one_picture():
    queue = FairQueue()
    for number in range(50):
        queue.put(a_task(ONE, f"{number:02}"))
    queue.take()
    queue.put(a_task(OTHER, "late"))

    assert OTHER in {task.tenant for task in served(queue, 2)}


works = st.lists(st.integers(1, 1000), min_size=30, max_size=60)


@given(works, works, st.integers(1, 10), st.integers(1, 10))
def test_while_both_have_work_each_gets_its_weight_of_it_within_one_picture_each(ones, others, weight, other_weight):
    queue = FairQueue()
    for tenant, amounts, share in ((ONE, ones, weight), (OTHER, others, other_weight)):
        for number, amount in enumerate(amounts):
            queue.put(a_task(tenant, f"{number:02}", amount, number, share))
    got = Counter()
    left = {ONE: len(ones), OTHER: len(others)}

    while all(left.values()):
        task = queue.take()
        left[task.tenant] -= 1
        got[task.tenant] += ticks(task.gpu_ms, task.weight)
        slack = ticks(1000, weight) + ticks(1000, other_weight)
        assert abs(got[ONE] - got[OTHER]) <= slack


def test_idling_saves_nothing_up():
    queue = FairQueue()
    for number in range(20):
        queue.put(a_task(ONE, f"{number:02}"))
    served(queue, 10)
    for number in range(20):
        queue.put(a_task(OTHER, f"{number:02}"))

    assert Counter(task.tenant for task in served(queue, 10)) == {ONE: 5, OTHER: 5}


def test_work_that_came_to_nothing_is_not_held_against_its_tenant():
    queue = FairQueue()
    queue.put(a_task(ONE, "a", gpu_ms=1000))
    queue.put(a_task(OTHER, "b"))
    queue.put(a_task(OTHER, "c"))

    lost = queue.take()
    queue.put_back(lost)

    assert [task.name for task in served(queue, 3)] == ["a", "b", "c"]


def test_a_dropped_task_is_not_served_and_its_tenant_waits_no_more():
    queue = FairQueue()
    queue.put(a_task(ONE, "a"))
    queue.put(a_task(OTHER, "b"))

    queue.drop(a_task(ONE, "a"))
    queue.drop(a_task(ONE, "unknown"))

    assert len(queue) == 1
    assert [task.name for task in served(queue, 2)] == ["b"]


@pytest.mark.parametrize(("gpu_ms", "weight", "expected"), [(100, 1, 100_000), (100, 4, 25_000), (0, 1000, 1)])
def test_work_moves_virtual_time_by_its_size_over_the_weight_and_never_by_nothing(gpu_ms, weight, expected):
    assert ticks(gpu_ms, weight) == expected
