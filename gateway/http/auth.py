"""Whose request this is."""

from __future__ import annotations

from gateway.failures import MissingKeyError
from gateway.rooms import Rooms
from tenants.errors import InvalidKeyError, SuspendedError
from tenants.keys import hash_key, well_formed
from tenants.types import Tenant

_SCHEME = "bearer"


async def authenticate(rooms: Rooms, authorization: str | None) -> Tenant:
    """The tenant behind an `Authorization` header.

    Raises:
        MissingKeyError: there is no bearer key.
        InvalidKeyError: nobody has that key.
        SuspendedError: the tenant may do nothing for now.
    """
    scheme, _, key = (authorization or "").partition(" ")
    key = key.strip()
    if scheme.lower() != _SCHEME or not key:
        raise MissingKeyError
    if not well_formed(key):
        raise InvalidKeyError
    record = await rooms.directory.key(hash_key(rooms.secret, key))
    if record is None:
        raise InvalidKeyError
    tenant = await rooms.directory.tenant(record.tenant)
    if tenant.suspended:
        raise SuspendedError
    return tenant
