"""`tenants`, `keys`, `quota`: who may ask, and for how much. They speak to the store directly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from gateway.cli.console import AsJson, console, log_nothing, print_json, show

tenants = typer.Typer(help="Tenants.", no_args_is_help=True)
keys = typer.Typer(help="API keys.", no_args_is_help=True)
quota = typer.Typer(help="Budgets in GPU-milliseconds.", no_args_is_help=True)


class NoServerError(RuntimeError):
    """Nothing answers where tenants are kept."""

    def __init__(self, *, embedded: bool) -> None:
        where, remedy = (
            ("No server runs in this data folder.", "Start `maquette up`, or name another folder: MAQUETTE_DATA_DIR.")
            if embedded
            else ("The server of MAQUETTE_REDIS_URL does not answer.", "Start it, or correct the URL.")
        )
        super().__init__(f"{where} {remedy} `maquette doctor` says more.")


TenantArgument = Annotated[str, typer.Argument(help="The tenant's id.")]


@tenants.command("create")
def create_tenant(
    tenant: TenantArgument,
    gpu_ms: Annotated[int, typer.Option(help="Its budget in GPU-milliseconds.", min=0)],
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
) -> None:
    """Create a tenant with a budget."""
    from gateway.administration import create_tenant as create

    _run(lambda rooms: create(rooms, tenant, name, gpu_ms))
    console.print(f"Created {tenant} with {gpu_ms} GPU-ms. Next: maquette keys create {tenant}")


@tenants.command("list")
def list_tenants(*, as_json: AsJson = False) -> None:
    """List tenants and their budgets."""
    from gateway.administration import list_tenants as rows

    show(_run(rows), title="Tenants", as_json=as_json)


@tenants.command("suspend")
def suspend_tenant(
    tenant: TenantArgument, *, off: Annotated[bool, typer.Option("--off", help="Readmit instead.")] = False
) -> None:
    """Suspend a tenant at once, or readmit it."""
    from cascade.jobs import TenantId

    _run(lambda rooms: rooms.directory.suspend(TenantId(tenant), suspended=not off))
    console.print(f"{tenant} is {'readmitted' if off else 'suspended'}.")


@keys.command("create")
def create_key(
    tenant: TenantArgument,
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Mint a key. It is shown this once; only a keyed hash is kept."""
    from gateway.administration import create_key as create

    key = _run(lambda rooms: create(rooms, tenant, label))
    if as_json:
        print_json({"tenant": tenant, "key": key})
    else:
        console.print(key, highlight=False, soft_wrap=True)


@keys.command("list")
def list_keys(tenant: TenantArgument, *, as_json: AsJson = False) -> None:
    """List a tenant's keys by their last four characters."""
    from gateway.administration import list_keys as rows

    show(_run(lambda rooms: rows(rooms, tenant)), title=f"Keys of {tenant}", as_json=as_json)


@keys.command("revoke")
def revoke_key(tenant: TenantArgument, hint: Annotated[str, typer.Argument(help="The key's last characters.")]) -> None:
    """Revoke a key at once, everywhere."""
    from gateway.administration import revoke_key as revoke

    _run(lambda rooms: revoke(rooms, tenant, hint))
    console.print("Revoked.")


@quota.command("show")
def show_quota(tenant: TenantArgument, *, as_json: AsJson = False) -> None:
    """Show a budget: limit = used + held + free."""
    from gateway.administration import show_quota as row

    show([_run(lambda rooms: row(rooms, tenant))], title=f"Budget of {tenant}, GPU-ms", as_json=as_json)


@quota.command("grant")
def grant_quota(
    tenant: TenantArgument, gpu_ms: Annotated[int, typer.Argument(help="The new limit in GPU-milliseconds.", min=0)]
) -> None:
    """Set a budget's limit."""
    from gateway.administration import grant_quota as grant

    _run(lambda rooms: grant(rooms, tenant, gpu_ms))
    console.print(f"{tenant} may now use {gpu_ms} GPU-ms in all.")


def _run(action: Callable[[Any], Awaitable[Any]]) -> Any:
    from cascade.errors import StoreUnavailableError
    from gateway.compose import open_rooms
    from gateway.settings import Settings
    from tenants.errors import BudgetStoreUnavailableError

    settings = Settings()

    async def act() -> Any:
        async with open_rooms(settings) as rooms:
            return await action(rooms)

    log_nothing()
    try:
        return asyncio.run(act())
    except (StoreUnavailableError, BudgetStoreUnavailableError) as error:
        raise NoServerError(embedded=settings.redis_url is None) from error
