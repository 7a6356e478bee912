"""All configuration that is not the catalogue, read once. Nothing else reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

BUNDLED_CATALOGUE = Path(__file__).parent / "bundled" / "catalogue.yaml"
BUNDLED_WEIGHTS = Path(__file__).parent.parent / "shapes" / "weights"


class Settings(BaseSettings):
    """Environment variables are `MAQUETTE_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="MAQUETTE_", frozen=True, extra="forbid")

    redis_url: SecretStr | None = None
    """Redis or Valkey ≥ 7. Without it `maquette up` starts its own in the data folder; other commands use that one."""

    secret: SecretStr | None = None
    """Signs links and hashes keys; at least 16 characters. Without it one is made and kept in the data folder."""

    data_dir: Path = Path(".maquette")
    """Pictures, the embedded server's files and the generated secret."""

    catalogue: Path = BUNDLED_CATALOGUE
    """Variants, pools and models."""

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)

    public_url: str | None = None
    """What `url` links start with. By default what the request was sent to."""

    sync_seconds: float = Field(default=120, gt=0, le=600)
    """How long a synchronous request may take before it is cancelled and answered 504."""

    lease_seconds: float = Field(default=10, ge=0.5, le=300)
    """A worker silent for this long loses its picture."""

    link_seconds: int = Field(default=3600, ge=1, le=604800)
    """How long a `url` link is valid."""

    cache_seconds: int = Field(default=86400, ge=1)
    """How long an attempt is kept for the tenant that paid for it."""

    retain_seconds: int = Field(default=86400, ge=60)
    """How long a finished job can be looked up."""

    @property
    def variables(self) -> Mapping[str, str]:
        """What `${NAME}` in the catalogue may stand for."""
        return dict(os.environ)  # noqa: TID251 - the one place that reads it

    @property
    def socket(self) -> Path:
        """Where the embedded server listens."""
        return (self.data_dir / "valkey.sock").resolve()

    @property
    def redis_address(self) -> str:
        """Where Redis is: the configured URL, else the embedded server's socket."""
        if self.redis_url is not None:
            return self.redis_url.get_secret_value()
        return f"unix://{self.socket}"
