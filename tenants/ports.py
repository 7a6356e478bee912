"""What tenants need kept: who they are, and their books.

All methods raise `BudgetStoreUnavailableError` when the store does not answer: spending fails closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cascade.jobs import TenantId
from tenants.types import Balance, HoldId, KeyRecord, Tenant


class Directory(Protocol):
    """Tenants and their keys."""

    async def add_tenant(self, tenant: Tenant) -> None:
        """Record a new tenant.

        Raises:
            TenantExistsError: the id is taken.
        """
        ...

    async def tenant(self, tenant_id: TenantId) -> Tenant:
        """The tenant.

        Raises:
            UnknownTenantError: there is none.
        """
        ...

    async def tenants(self) -> Sequence[Tenant]:
        """All tenants, by id."""
        ...

    async def suspend(self, tenant_id: TenantId, *, suspended: bool) -> None:
        """Suspend or readmit a tenant, at once and everywhere.

        Raises:
            UnknownTenantError: there is none.
        """
        ...

    async def add_key(self, record: KeyRecord) -> None:
        """Record a key.

        Raises:
            UnknownTenantError: its tenant does not exist.
        """
        ...

    async def key(self, key_hash: str) -> KeyRecord | None:
        """The key with this hash."""
        ...

    async def keys(self, tenant_id: TenantId) -> Sequence[KeyRecord]:
        """A tenant's keys, oldest first."""
        ...

    async def revoke_key(self, key_hash: str) -> bool:
        """Forget a key. Returns whether it existed."""
        ...


class Quota(Protocol):
    """Budgets in GPU-milliseconds: reserve before, settle after, both atomic.

    Invariant: `limit = used + held + free`, and `held` is the sum of the open holds.
    """

    async def grant(self, tenant_id: TenantId, limit_gpu_ms: int) -> None:
        """Set the budget's limit. What is used and held stays."""
        ...

    async def balance(self, tenant_id: TenantId) -> Balance:
        """The budget now; all zeros for a tenant that was never granted one."""
        ...

    async def reserve(self, tenant_id: TenantId, hold_id: HoldId, gpu_ms: int, lease_seconds: float) -> Balance:
        """Set `gpu_ms` aside under `hold_id`, or refuse. Repeating an id changes nothing.

        Args:
            lease_seconds: after this the hold counts as abandoned unless extended.

        Raises:
            QuotaExceededError: not enough is free; `errors.refusal` says which kind.
            ValueError: `gpu_ms` is negative.
        """
        ...

    async def extend(self, tenant_id: TenantId, hold_id: HoldId, lease_seconds: float) -> bool:
        """Keep an open hold for longer. Returns whether it is still open."""
        ...

    async def settle(self, tenant_id: TenantId, hold_id: HoldId, gpu_ms: int) -> int:
        """Close the hold: charge `gpu_ms` up to the hold, free the rest; what lies above is written off as overrun.

        The first call wins; a later one changes nothing. Returns what was charged (by the first call); 0 for an
        unknown hold.
        """
        ...

    async def abandoned(self, limit: int) -> Sequence[tuple[TenantId, HoldId]]:
        """Open holds whose lease has run out, of any tenant, oldest first."""
        ...
