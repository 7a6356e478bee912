"""Every scene of the tiny world, for hypothesis: nothing here knows with what chance training draws one."""

from __future__ import annotations

from hypothesis import strategies as st

from shapes.scenes import Scene, Thing
from shapes.vocabulary import Background, Colour, Fill, Relation, Shape, Size

PAIR_RELATIONS = tuple(relation for relation in Relation if relation is not Relation.ROW)

seeds = st.integers(0, 2**32)
backgrounds = st.none() | st.sampled_from(Background)
plain_things = st.builds(Thing, st.sampled_from(Shape), st.sampled_from(Colour))
things = st.builds(
    Thing,
    st.sampled_from(Shape),
    st.sampled_from(Colour),
    st.none() | st.sampled_from(Size),
    st.none() | st.sampled_from(Fill),
)
pairs = st.builds(Scene, st.tuples(things, things), st.sampled_from(PAIR_RELATIONS), backgrounds)
rows = st.builds(Scene, st.tuples(plain_things, plain_things, plain_things), st.just(Relation.ROW), backgrounds)


def _alike(thing: Thing, count: int, background: Background | None) -> Scene:
    return Scene((thing,) * count, None, background)


ones_and_twos = st.builds(_alike, things, st.sampled_from((1, 2)), backgrounds)
threes = st.builds(_alike, plain_things, st.just(3), backgrounds)
scenes = st.one_of(ones_and_twos, threes, pairs, rows)
