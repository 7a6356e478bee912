"""Where two scenes differ, by attribute."""

from collections import Counter

from shapes.scenes import Scene

OF_A_THING = ("shape", "colour", "fill", "size")


def differences(one: Scene, other: Scene) -> set[str]:
    """Names of the attributes that differ, things compared in their order; only the count where that differs."""
    if len(one.things) != len(other.things):
        return {"count"}
    found = {name for name in ("background", "relation") if getattr(one, name) is not getattr(other, name)}
    pairs = list(zip(one.things, other.things, strict=True))
    return found | {name for name in OF_A_THING if any(getattr(a, name) is not getattr(b, name) for a, b in pairs)}


def same_things(one: Scene, other: Scene) -> bool:
    """Whether both scenes hold the same things in any order, on the same background."""
    return Counter(one.things) == Counter(other.things) and one.background is other.background
