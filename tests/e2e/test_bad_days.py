"""Killed workers, killed supervisors, restarts: nothing lost, nothing charged twice, nobody left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.live_gateway import ROOT

PROMPTS = (
    "a large red circle on a white background",
    "three purple crosses on a white background",
    "a red circle, a yellow star and a green heart in a row on a navy background",
)


def gone(gateway, *words, seconds=15.0):
    give_up = time.monotonic() + seconds
    while gateway.children(*words) and time.monotonic() < give_up:
        time.sleep(0.1)
    return gateway.children(*words) == []


async def flood(gateway, requests):
    """Send `requests` at once, kill a worker twice meanwhile, and return the answers."""
    limits = httpx.Limits(max_connections=requests)
    headers = {"Authorization": f"Bearer {gateway.key}"}
    async with httpx.AsyncClient(base_url=gateway.url, headers=headers, timeout=150, limits=limits) as client:

        async def one(number):
            body = {"prompt": PROMPTS[number % 3], "seed": number, "cache": "never"}
            return await client.post("/v1/images/generations", json=body)

        async def killer():
            for pool in ("light", "heavy"):
                await asyncio.sleep(1.5)
                for pid in gateway.children("work", pool):
                    os.kill(pid, signal.SIGKILL)

        killing = asyncio.create_task(killer())
        answers = await asyncio.gather(*(one(number) for number in range(requests)))
        await killing
        return answers


async def test_200_requests_are_answered_while_workers_are_killed(own_gateway):
    answers = await flood(own_gateway, 200)

    assert [answer.status_code for answer in answers] == [200] * 200
    charged = sum(answer.json()["maquette"]["gpu_ms"]["charged"] for answer in answers)
    budget = budget_of(own_gateway)
    assert budget["used_gpu_ms"] == charged
    assert budget["held_gpu_ms"] == 0
    assert budget["limit_gpu_ms"] == budget["used_gpu_ms"] + budget["held_gpu_ms"] + budget["free_gpu_ms"]


def test_ctrl_c_leaves_nobody_behind(own_gateway):
    assert len(own_gateway.children()) == 4  # valkey, http, two workers

    assert own_gateway.stop(signal.SIGINT) == 0

    assert gone(own_gateway)


def test_kill_minus_9_of_the_supervisor_leaves_nobody_behind(own_gateway):
    own_gateway.stop(signal.SIGKILL)

    assert gone(own_gateway)


def test_what_was_paid_for_survives_a_kill_and_a_restart(own_gateway):
    body = {"prompt": PROMPTS[0], "seed": 5}
    first = _draw(own_gateway, body)
    used = budget_of(own_gateway)["used_gpu_ms"]
    time.sleep(1.5)  # the append-only file is synced once a second
    own_gateway.stop(signal.SIGKILL)
    assert gone(own_gateway)

    own_gateway.start()
    own_gateway.wait_until_ready()
    again = _draw(own_gateway, body)

    assert again["data"] == first["data"]
    assert again["maquette"]["gpu_ms"]["charged"] == 0
    assert budget_of(own_gateway)["used_gpu_ms"] == used


def test_a_second_supervisor_is_told_that_one_is_running(own_gateway):
    own_gateway.extra["MAQUETTE_PORT"] = "0"

    second = own_gateway.command("up")

    assert second.returncode == 2
    assert "Another `maquette up` is running" in " ".join(second.stderr.split())


def test_a_taken_port_is_said(own_gateway, tmp_path):
    second = subprocess.run(
        [sys.executable, "-m", "gateway", "up", "--port", str(own_gateway.port)],
        cwd=ROOT,
        env=own_gateway.environment | {"MAQUETTE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert second.returncode == 2
    assert "Address already in use" in " ".join(second.stderr.split())


def test_a_worker_paused_past_its_lease_cannot_charge_or_publish(own_gateway):
    """Paused while it draws, it wakes when another worker has drawn the picture: what it has is thrown away."""
    body = {
        "prompt": PROMPTS[2],
        "model": "shapes-dev",
        "size": "128x128",
        "num_inference_steps": 50,
        "n": 10,
        "seed": 3,
    }
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(_draw, own_gateway, body)
        [paused] = own_gateway.children("work", "heavy")
        wait_until(lambda: running(own_gateway, "heavy"))
        os.kill(paused, signal.SIGSTOP)
        other = subprocess.Popen(
            [sys.executable, "-m", "gateway", "work", "--pool", "heavy"], cwd=ROOT, env=own_gateway.environment
        )
        answer = asked.result()
        os.kill(paused, signal.SIGCONT)
        wait_until(lambda: "lost the lease" in own_gateway.log)
        other.terminate()
        assert other.wait(timeout=20) == 0

    assert [picture["status"] for picture in answer["maquette"]["pictures"]] == ["done"] * 10
    budget = budget_of(own_gateway)
    assert (budget["used_gpu_ms"], budget["held_gpu_ms"]) == (answer["maquette"]["gpu_ms"]["charged"], 0)


def wait_until(met, seconds=20.0):
    give_up = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < give_up, "it did not come to that"
        time.sleep(0.02)


def running(gateway, pool):
    pools = httpx.get(f"{gateway.url}/readyz", timeout=10).json()["pools"]
    return next(state["running"] for state in pools if state["name"] == pool)


def budget_of(gateway):
    return json.loads(gateway.command("quota", "show", "demo", "--json").stdout)[0]


def _draw(gateway, body):
    headers = {"Authorization": f"Bearer {gateway.key}"}
    answer = httpx.post(f"{gateway.url}/v1/images/generations", json=body, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()
