import asyncio
import logging

import pytest

from cascade.adapters.redis_bell import RECONNECT_SECONDS, Bell
from cascade.adapters.redis_client import open_client


@pytest.mark.parametrize("url", ["redis://:qzj/qzj@host:1", "http://:qzj@host", "redis://:qzj@host:port"])
def test_an_unreadable_url_is_refused_without_repeating_any_of_it(url):
    with pytest.raises(ValueError, match=r"redis://…") as refused:
        open_client(url)

    assert "qzj" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


async def test_a_server_that_is_away_is_said_once_and_without_its_address(tmp_path, caplog):
    client = open_client(f"unix://{tmp_path}/nobody.sock")
    bell = Bell(client, "work")

    with caplog.at_level(logging.INFO):
        listening = asyncio.create_task(bell.listen())
        await asyncio.sleep(4 * RECONNECT_SECONDS)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
    await client.aclose()

    (said,) = caplog.records
    assert said.getMessage() == "The subscription to ('work',) broke (ConnectionError)."
