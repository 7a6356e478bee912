"""The sweeper's loop: every process of the gateway runs one, since sweeping is idempotent and cheap."""

from __future__ import annotations

import asyncio
import logging

from cascade.errors import StoreUnavailableError
from gateway.rooms import Rooms
from gateway.settlement import sweep
from tenants.errors import BudgetStoreUnavailableError

logger = logging.getLogger(__name__)

_PERIOD_SECONDS = 3.0


async def keep_sweeping(rooms: Rooms) -> None:
    """Close what crashes left open, until cancelled."""
    while True:
        await asyncio.sleep(_PERIOD_SECONDS)
        try:
            closed = await sweep(rooms)
        except (StoreUnavailableError, BudgetStoreUnavailableError):
            logger.warning("cannot sweep: the store does not answer")
        else:
            if closed:
                logger.info("closed %d holds that were left open", closed)
