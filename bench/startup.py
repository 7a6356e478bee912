"""How long `maquette up` takes: until HTTP answers, until every pool has a worker, until the first picture is there.

    python -m bench.startup [--rounds 3] [--json]

Each round starts a gateway in a folder of its own and stops it. Wall time: run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

PROMPT = "a large red circle on a white background"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rounds = [measure() for _ in range(options.rounds)]
    figures = {name: statistics.median(taken[name] for taken in rounds) for name in rounds[0]}
    if options.json:
        print(json.dumps({"median_seconds": figures, "rounds": rounds}, indent=2))
        return
    table = Table(title=f"maquette up, seconds since the command, median of {options.rounds}")
    for name in figures:
        table.add_column(name.replace("_", " "), justify="right")
    table.add_row(*(f"{seconds:.2f}" for seconds in figures.values()))
    Console().print(table)


def measure() -> dict[str, float]:
    """Start a gateway, ask it for one picture and stop it. Returns seconds by what was reached."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="mq-") as folder:
        settings = {"MAQUETTE_DATA_DIR": folder, "MAQUETTE_PORT": str(port)}
        environment = os.environ | settings  # noqa: TID251 - handed to a child
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "gateway", "up"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return {
                name: at - started for name, at in reach(f"http://127.0.0.1:{port}", Path(folder) / "demo.key").items()
            }
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)


def reach(url: str, key_file: Path) -> dict[str, float]:
    """The moments at which HTTP answered, every pool was served and the first picture had come."""
    with httpx.Client(base_url=url, timeout=60, verify=False) as client:  # noqa: S501 - plain HTTP to ourselves
        moments = {"http_answers": wait_for(client, "/healthz"), "every_pool_served": wait_for(client, "/readyz")}
        while not key_file.exists():
            time.sleep(0.01)
        headers = {"Authorization": f"Bearer {key_file.read_text().strip()}"}
        client.post("/v1/images/generations", json={"prompt": PROMPT}, headers=headers).raise_for_status()
        return moments | {"first_picture": time.perf_counter()}


def wait_for(client: httpx.Client, path: str) -> float:
    """When `path` first answered with success."""
    give_up = time.perf_counter() + 60
    while time.perf_counter() < give_up:
        try:
            if client.get(path).is_success:
                return time.perf_counter()
        except httpx.HTTPError:
            pass
        time.sleep(0.02)
    raise TimeoutError(path)


if __name__ == "__main__":
    main()
