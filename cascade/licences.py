"""What a licence tag says about selling pictures, and what follows for a gateway that does.

A small table of tags as model hubs and SPDX write them, read by hand from the licences. It is no legal advice: what it
does not know is said to be unknown, never taken to be fine.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Use(StrEnum):
    """What the gateway is for."""

    COMMERCIAL = "commercial"
    NON_COMMERCIAL = "non-commercial"


class Terms(StrEnum):
    """What a licence says about commercial use, from best to worst."""

    FREE = "free"
    CONDITIONAL = "conditional"
    """Allowed below a limit, or with rules for what may be drawn: somebody has to read it."""
    UNKNOWN = "unknown"
    NON_COMMERCIAL = "non-commercial"


_FREE = frozenset(
    {
        "0bsd",
        "afl-3.0",
        "agpl-3.0",
        "apache-2.0",
        "artistic-2.0",
        "bsd-2-clause",
        "bsd-3-clause",
        "bsl-1.0",
        "cc-by-3.0",
        "cc-by-4.0",
        "cc-by-sa-3.0",
        "cc-by-sa-4.0",
        "cc0-1.0",
        "gpl-2.0",
        "gpl-3.0",
        "isc",
        "lgpl-3.0",
        "mit",
        "mit-0",
        "mpl-2.0",
        "unlicense",
        "zlib",
    }
)
_CONDITIONAL = re.compile(
    r"stabilityai-ai-community|stability-?ai-community.*"  # free below a million dollars a year
    r"|(creativeml-)?(big-?science-)?(big-?code-)?open-?rail.*"  # forbids some uses of pictures
    r"|gemma|llama[0-9.]*|tencent-hunyuan-community|playground-v2.*-community|polyform-small-business.*"
)
_NON_COMMERCIAL = re.compile(
    r".*non-?commercial.*"  # flux-1-dev-non-commercial-license, polyform-noncommercial-1.0.0, fair-noncommercial-…
    r"|cc-by-nc.*"
    r"|flux[.-]?1-dev.*"  # the tag's short forms; v1.1.1 forbids all but non-production use
    r"|s-?lab.*"
    r"|(sai|stabilityai)-nc.*"
    r"|polyform-strict.*"
    r"|deepfloyd-if.*"
    r"|apple-(amlr|ascl|sample.*|machine-learning-research.*|research.*)"  # on the hub all stand for research weights
    r"|.*research-only.*"
)


def terms_of(tag: str) -> Terms:
    """The terms of a licence tag; of several, joined by commas, "and" or "or", the worst.

    Args:
        tag: an SPDX identifier or a hub's `license` or `license_name`, in any case; empty when nothing is known.
    """
    parts = re.split(r",|\s+and\s+|\s+or\s+", tag, flags=re.IGNORECASE)
    return max((_terms_of_one(part) for part in parts), key=list(Terms).index)


def _terms_of_one(tag: str) -> Terms:
    name = re.sub(r"[\s_]+", "-", tag.strip().lower())
    if _NON_COMMERCIAL.fullmatch(name):
        return Terms.NON_COMMERCIAL
    if _CONDITIONAL.fullmatch(name):
        return Terms.CONDITIONAL
    bare = name.removesuffix("-only").removesuffix("-or-later")  # SPDX' forms of the GNU licences
    return Terms.FREE if bare in _FREE else Terms.UNKNOWN


def refusal(owner: str, tag: str, use: Use, override: str) -> str | None:
    """Why something may not be loaded, with what to do about it; `None` if it may.

    Args:
        owner: such as `variant flux-dev`.
        tag: its licence tag.
        use: what the gateway is for.
        override: the operator's reason to load it all the same, or nothing.
    """
    if use is not Use.COMMERCIAL or override or terms_of(tag) is not Terms.NON_COMMERCIAL:
        return None
    return (
        f"{owner} is licensed under {tag}, which forbids commercial use. Take another model; or say "
        f"`use: {Use.NON_COMMERCIAL}` at the top of the catalogue if that is what the gateway is for; or, if you were "
        "allowed more, give it a `license_override` that says why."
    )


def remark(owner: str, tag: str, use: Use, override: str) -> str | None:
    """What the operator should know of a licence that is let through; `None` if nothing.

    Args: as of `refusal`.
    """
    terms = terms_of(tag)
    if override:
        return f"{owner} is licensed under {tag or 'nothing known'} and loaded under an override: {override}"
    if terms is Terms.UNKNOWN:
        return (
            f"{owner} has the licence {tag}, which is not in our table: read it."
            if tag
            else f"{owner} has no licence that is known: say it with `license`."
        )
    if terms is Terms.CONDITIONAL and use is Use.COMMERCIAL:
        return f"{owner} is licensed under {tag}, which allows commercial use on conditions: read them."
    return None
