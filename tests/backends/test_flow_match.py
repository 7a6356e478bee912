"""Our schedule is that of diffusers."""
# ruff: noqa: PLC0415  (torch is imported late: who has none can still collect these tests)

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from backends.flow_match import FlowMatch, euler_step, read_schedule, timestep
from cascade.errors import ModelFilesError
from cascade.model_folder import ModelFolder

CONFIGS = {
    "static": {"shift": 1.0},
    "static, shifted": {"shift": 3.0},
    "dynamic": {"use_dynamic_shifting": True},
    "dynamic, linear": {"use_dynamic_shifting": True, "time_shift_type": "linear"},
    "dynamic, own range": {
        "use_dynamic_shifting": True,
        "base_shift": 0.2,
        "max_shift": 2.0,
        "base_image_seq_len": 16,
        "max_image_seq_len": 100,
    },
    "terminal": {"shift": 2.0, "shift_terminal": 0.1},
}


def schedule(folder: Path, config: dict[str, object]) -> FlowMatch:
    (folder / "scheduler_config.json").write_text(json.dumps(config))
    return read_schedule(ModelFolder(folder).settings("scheduler_config.json"))


RUNS = [
    pytest.param(config, steps, id=f"{name}, {steps} steps")
    for name, config in CONFIGS.items()
    for steps in (1, 2, 4, 28)
    if (name, steps) != ("terminal", 1)  # one step ends where it begins: diffusers divides zero by zero
]


@pytest.mark.engine
@pytest.mark.parametrize("tokens", [16, 24, 4096])
@pytest.mark.parametrize(("config", "steps"), RUNS)
def test_a_run_has_the_sigmas_timesteps_and_latents_of_diffusers(
    tmp_path: Path, config: dict[str, object], steps: int, tokens: int
) -> None:
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler
    from diffusers.pipelines.flux.pipeline_flux import calculate_shift

    theirs = FlowMatchEulerDiscreteScheduler(**config)
    c = theirs.config
    mu = calculate_shift(tokens, c.base_image_seq_len, c.max_image_seq_len, c.base_shift, c.max_shift)
    theirs.set_timesteps(sigmas=np.linspace(1.0, 1 / steps, steps), mu=mu)
    theirs.set_begin_index(0)
    sigmas = schedule(tmp_path, config).sigmas(steps, tokens)

    np.testing.assert_array_equal(sigmas, theirs.sigmas.numpy())
    latents = np.linspace(-2, 2, 12, dtype=np.float32)
    for index, t in enumerate(theirs.timesteps):
        velocity = np.cos(latents)
        following = theirs.step(torch.from_numpy(velocity), t, torch.from_numpy(latents), return_dict=False)[0]
        latents = euler_step(latents, velocity, sigmas[index], sigmas[index + 1])
        assert timestep(sigmas[index])[0] == (t / 1000).numpy()
        np.testing.assert_array_equal(latents, following.numpy())


def test_a_run_falls_from_noise_to_nothing() -> None:
    sigmas = FlowMatch().sigmas(4, 16)

    assert sigmas.tolist() == [1.0, 0.75, 0.5, 0.25, 0.0]


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"use_karras_sigmas": True}, "sets use_karras_sigmas"),
        ({"stochastic_sampling": True}, "sets stochastic_sampling"),
        ({"_class_name": "EulerDiscreteScheduler"}, "names EulerDiscreteScheduler"),
        ({"num_train_timesteps": 500}, "num_train_timesteps as 1000"),
        ({"time_shift_type": "cubic"}, "time_shift_type as exponential or linear"),
        ({"shift": "much"}, "shift as a number"),
        ({"use_dynamic_shifting": 1}, "use_dynamic_shifting as true or false"),
    ],
)
def test_a_schedule_that_we_would_draw_wrongly_is_refused(
    tmp_path: Path, config: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ModelFilesError, match=complaint):
        schedule(tmp_path, config)
