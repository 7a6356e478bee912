"""All the checks. A new one is a look, a judgement and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gateway.local.doctor.ask_server import look_at_server
from gateway.local.doctor.catalogue import judge_catalogue, judge_folders, look_at_catalogue, look_at_folders
from gateway.local.doctor.check import Check
from gateway.local.doctor.clock import judge_clock, look_at_clock
from gateway.local.doctor.configuration import judge_configuration, look_at_configuration
from gateway.local.doctor.data_folder import judge_data_folder, look_at_data_folder
from gateway.local.doctor.drawing import DRAWING_SECONDS, judge_drawing, look_at_drawing
from gateway.local.doctor.imports import IMPORT_SECONDS, judge_imports, look_at_imports
from gateway.local.doctor.installation import judge_installation, look_at_installation
from gateway.local.doctor.port import judge_port, look_at_port
from gateway.local.doctor.server import judge_server
from gateway.settings import Settings

_HASHING_SECONDS = 600.0
"""Tens of gigabytes from a disk that is not the fastest."""

_MARGIN_SECONDS = 15.0
"""What bounds itself is given this much to say so."""


def of_the_installation() -> Sequence[Check[Any]]:
    """What can be examined whatever the settings are."""
    return (
        Check("packages", look_at_installation, judge_installation),
        Check("imports", look_at_imports, judge_imports, IMPORT_SECONDS + _MARGIN_SECONDS, slow=True),
        Check("clock", look_at_clock, judge_clock),
    )


def of_the_settings(settings: Settings) -> Sequence[Check[Any]]:
    """What the settings name."""
    return (
        Check("settings", partial(look_at_configuration, settings), judge_configuration),
        Check("data folder", partial(look_at_data_folder, settings), judge_data_folder),
        Check("port", partial(look_at_port, settings), judge_port),
        Check("server", partial(look_at_server, settings), judge_server),
        Check("catalogue", partial(look_at_catalogue, settings), judge_catalogue),
        Check("model files", partial(look_at_folders, settings), judge_folders, _HASHING_SECONDS, slow=True),
        Check(
            "drawing", partial(look_at_drawing, settings), judge_drawing, DRAWING_SECONDS + _MARGIN_SECONDS, slow=True
        ),
    )
