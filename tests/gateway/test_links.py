"""Signed links."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from gateway.failures import LinkError
from gateway.http.links import sign, verify

SECRET = b"0123456789abcdef"


def parts(link):
    query = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
    return urlsplit(link).path.split("/")[3], query["format"], int(query["expires"]), query["signature"]


def test_a_link_is_valid_until_the_second_it_expires():
    link = parts(sign(SECRET, "img_1", "png", 1000))

    verify(SECRET, *link, now=999.9)
    with pytest.raises(LinkError):
        verify(SECRET, *link, now=1000)


@pytest.mark.parametrize(("place", "forged"), [(0, "img_2"), (1, "webp"), (2, 2000), (3, "00"), (3, ""), (3, "ü")])
def test_no_part_of_a_link_can_be_changed(place, forged):
    link = list(parts(sign(SECRET, "img_1", "png", 1000)))
    link[place] = forged

    with pytest.raises(LinkError):
        verify(SECRET, *link, now=0)


def test_another_installations_link_is_refused():
    with pytest.raises(LinkError):
        verify(b"another secret..", *parts(sign(SECRET, "img_1", "png", 1000)), now=0)
