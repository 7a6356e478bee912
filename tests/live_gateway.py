"""`maquette up` as a person starts it: real processes, real models, a real socket."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
START_SECONDS = 90


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Gateway:
    """A `maquette up` of its own."""

    folder: Path
    port: int = field(default_factory=free_port)
    extra: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def key(self) -> str:
        return (self.folder / "demo.key").read_text().strip()

    @property
    def log(self) -> str:
        return (self.folder / "test.log").read_text()

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MAQUETTE_")}  # noqa: TID251
        return (
            kept
            | {"MAQUETTE_DATA_DIR": str(self.folder), "MAQUETTE_PORT": str(self.port), "COLUMNS": "200"}
            | self.extra
        )

    def start(self) -> None:
        with (self.folder / "test.log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", "up"], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )

    def wait_until_ready(self) -> None:
        give_up = time.monotonic() + START_SECONDS
        with httpx.Client(base_url=self.url, timeout=5) as client:
            while time.monotonic() < give_up:
                assert self.process.poll() is None, self.log
                if self._ready(client):
                    return
                time.sleep(0.1)
        raise AssertionError(f"not ready after {START_SECONDS} s:\n{self.log}")

    def _ready(self, client: httpx.Client) -> bool:
        try:
            return client.get("/readyz").is_success and "Serving." in self.log
        except httpx.HTTPError:
            return False

    def stop(self, number=signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=40)

    def command(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "gateway", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def children(self, *words: str) -> list[int]:
        """Process ids of everything that belongs to this gateway, and has all of `words` in its command line."""
        return [pid for pid, line in _processes(self) if all(word in line for word in words)]


def _processes(gateway: Gateway):
    """(pid, command line) of processes that run with this gateway's data folder, but for the supervisor.

    Valkey writes its title over its environment; it names its socket in it.
    """
    marker = f"MAQUETTE_DATA_DIR={gateway.folder}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            mine = marker in (entry / "environ").read_bytes().split(b"\0") or str(gateway.folder) in line
        except (OSError, ProcessLookupError):
            continue
        if mine and state != "Z" and " up" not in line:
            yield int(entry.name), line


@contextmanager
def a_gateway(**extra: str):
    with tempfile.TemporaryDirectory(prefix="mq-") as folder:
        gateway = Gateway(Path(folder), extra=extra)
        gateway.start()
        try:
            gateway.wait_until_ready()
            yield gateway
        finally:
            if gateway.process.poll() is None:
                gateway.stop()
