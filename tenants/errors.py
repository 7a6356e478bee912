"""What can go wrong with who asks and what they may spend.

TenantError
├── InvalidKeyError            no such key, or a malformed one
├── SuspendedError             the tenant may do nothing for now
├── UnknownTenantError         no such tenant
├── TenantExistsError          the name is taken
├── QuotaExceededError         the budget has not enough left
│   ├── HeldBackError          it has, once requests in flight are settled
│   └── NeverFitsError         the request costs more than the whole budget
└── BudgetStoreUnavailableError   the books do not answer: nothing is spent meanwhile
"""

from __future__ import annotations

from tenants.types import Balance


class TenantError(Exception):
    """Something about a tenant."""


class InvalidKeyError(TenantError):
    """The key is malformed or unknown."""

    def __init__(self) -> None:
        super().__init__("Incorrect API key provided.")


class SuspendedError(TenantError):
    """The tenant is suspended."""

    def __init__(self) -> None:
        super().__init__("This account is suspended. Ask your administrator.")


class UnknownTenantError(TenantError):
    """There is no such tenant."""

    def __init__(self) -> None:
        super().__init__("There is no such tenant.")


class TenantExistsError(TenantError):
    """The tenant's id is taken."""

    def __init__(self) -> None:
        super().__init__("A tenant of that name exists already.")


class QuotaExceededError(TenantError):
    """The budget has not enough left for the request, and only an administrator can change that."""

    def __init__(self, needed_gpu_ms: int, balance: Balance) -> None:
        self.needed_gpu_ms = needed_gpu_ms
        self.balance = balance
        super().__init__(
            f"This request may take {needed_gpu_ms} GPU-ms; {balance.free_gpu_ms} of {balance.limit_gpu_ms} are free "
            f"({balance.used_gpu_ms} used, {balance.held_gpu_ms} held by requests in flight)."
        )


class HeldBackError(QuotaExceededError):
    """The budget has enough once requests in flight are settled: waiting helps."""


class NeverFitsError(QuotaExceededError):
    """The request costs more than the whole budget: waiting does not help."""


class BudgetStoreUnavailableError(TenantError):
    """The books do not answer."""

    def __init__(self) -> None:
        super().__init__("The budget store does not answer; nothing was started or charged. Try again shortly.")


def refusal(needed_gpu_ms: int, balance: Balance) -> QuotaExceededError:
    """Why a budget that lacks the free GPU-milliseconds refuses, and so whether waiting helps."""
    if needed_gpu_ms > balance.limit_gpu_ms:
        return NeverFitsError(needed_gpu_ms, balance)
    if needed_gpu_ms <= balance.limit_gpu_ms - balance.used_gpu_ms:
        return HeldBackError(needed_gpu_ms, balance)
    return QuotaExceededError(needed_gpu_ms, balance)
