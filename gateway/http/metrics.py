"""Prometheus metrics. Labels come from the catalogue only, so the number of series is bounded."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from cascade.jobs import Job
from cascade.ports import PoolState

_LATENCY_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 120)


class Metrics:
    """What one HTTP process counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._answers = Counter(
            "maquette_generations_total", "Answered generations.", ["model"], registry=self.registry
        )
        self._seconds = Histogram(
            "maquette_generation_seconds",
            "From request to answer.",
            ["model"],
            buckets=_LATENCY_BUCKETS,
            registry=self.registry,
        )
        self._attempts = Counter(
            "maquette_attempts_total",
            "Stages that ran or were remembered, by verdict.",
            ["variant", "verdict", "cached"],
            registry=self.registry,
        )
        self._gpu_ms = Counter(
            "maquette_gpu_ms_total", "Measured reference-GPU milliseconds.", ["variant"], registry=self.registry
        )
        self._charged = Counter(
            "maquette_charged_gpu_ms_total", "Charged reference-GPU milliseconds.", ["model"], registry=self.registry
        )
        self._refused = Counter("maquette_refusals_total", "Refused requests.", ["code"], registry=self.registry)
        self._queued = Gauge("maquette_queued", "Pictures waiting in a pool.", ["pool"], registry=self.registry)
        self._running = Gauge("maquette_running", "Pictures being drawn.", ["pool"], registry=self.registry)
        self._workers = Gauge("maquette_workers", "Live workers of a pool.", ["pool"], registry=self.registry)

    def answered(self, job: Job, charged_gpu_ms: int, seconds: float) -> None:
        """Count a generation that was answered."""
        model = job.plan.model
        self._answers.labels(model).inc()
        self._seconds.labels(model).observe(seconds)
        self._charged.labels(model).inc(charged_gpu_ms)
        for picture in job.pictures:
            for attempt in picture.attempts:
                self._attempts.labels(attempt.variant, attempt.verdict, str(attempt.cached).lower()).inc()
                self._gpu_ms.labels(attempt.variant).inc(attempt.gpu_ms)

    def refused(self, code: str) -> None:
        """Count an error answer by its code, one of a closed list."""
        self._refused.labels(code).inc()

    def expose(self, pools: Sequence[PoolState]) -> bytes:
        """Prometheus' text format, with the pools as they are now."""
        for pool in pools:
            self._queued.labels(pool.name).set(pool.queued)
            self._running.labels(pool.name).set(pool.running)
            self._workers.labels(pool.name).set(len(pool.workers))
        return generate_latest(self.registry)
