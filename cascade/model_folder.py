"""A folder of model files, read so that what is wrong with it is said by file. Standard library only.

Both rooms that load models stand on it. Messages name files relative to the folder: a machine's paths are nobody's
business.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cascade.errors import ModelFilesError

_REMEDY = "Copy the whole folder again."
_WEIGHT_FILES = frozenset({".safetensors", ".onnx"})
_CHUNK_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that exists.

    Raises:
        ModelFilesError: it does not.
    """

    path: Path

    def __post_init__(self) -> None:
        if not self.path.is_dir():
            raise ModelFilesError(f"There is no model folder {self.path.name}. Check `folder` in the catalogue.")

    def has(self, name: str) -> bool:
        """Whether the folder holds a file of that relative name."""
        return (self.path / name).is_file()

    def file(self, name: str) -> Path:
        """Where a required file lies.

        Raises:
            ModelFilesError: it is missing.
        """
        if not self.has(name):
            raise ModelFilesError(f"{name} is missing from model folder {self.path.name}. {_REMEDY}")
        return self.path / name

    def broken(self, name: str, reason: str) -> ModelFilesError:
        """The error for a file that is there but cannot be used."""
        return ModelFilesError(f"{name} of model folder {self.path.name} {reason}. {_REMEDY}")

    def read(self, name: str) -> bytes:
        """The bytes of a required file.

        Raises:
            ModelFilesError: it is missing or cannot be read.
        """
        try:
            return self.file(name).read_bytes()
        except OSError as error:
            raise self.broken(name, "cannot be read") from error

    def settings(self, name: str) -> Settings:
        """A required JSON object.

        Raises:
            ModelFilesError: it is missing, or is not a JSON object.
        """
        try:
            values = json.loads(self.read(name))
        except ValueError as error:
            raise self.broken(name, "is not JSON") from error
        if not isinstance(values, dict):
            raise self.broken(name, "is not a JSON object")
        return Settings(self, name, values)

    def digest(self) -> str:
        """What the folder's card states as `digest`: the sha256, in hex, over all weights.

        Of every safetensors and ONNX file the relative name, then the bytes, in the order of their paths.

        Raises:
            ModelFilesError: a file cannot be read.
        """
        total = hashlib.sha256()
        for path in sorted(self.path.rglob("*")):
            if path.suffix in _WEIGHT_FILES:
                name = path.relative_to(self.path).as_posix()
                total.update(name.encode())
                for chunk in self._chunks(name):
                    total.update(chunk)
        return total.hexdigest()

    def _chunks(self, name: str) -> Iterator[bytes]:
        """A file's bytes, some at a time: a transformer can be larger than the memory."""
        try:
            with self.file(name).open("rb") as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    yield chunk
        except OSError as error:
            raise self.broken(name, "cannot be read") from error

    def check_weights(self, stem: str) -> None:
        """Check safetensors weights, in one file or several, without reading the tensors.

        Raises:
            ModelFilesError: a file is missing, truncated or garbage.
        """
        whole, index = f"{stem}.safetensors", f"{stem}.safetensors.index.json"
        if self.has(whole) or not self.has(index):
            self._check_safetensors(whole)
            return
        names = self.settings(index).values.get("weight_map")
        if not isinstance(names, dict) or not names:
            raise self.broken(index, "lists no files")
        parent = Path(index).parent
        for name in sorted({str(name) for name in names.values()}):
            self._check_safetensors((parent / name).as_posix())

    def _check_safetensors(self, name: str) -> None:
        """The layout: header length [8 bytes], header [JSON], then tensors up to the largest offset."""
        path = self.file(name)
        try:
            size = path.stat().st_size
            with path.open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                header: dict[str, Any] = json.loads(stream.read(min(length, size)))
            tensors = max(entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__")
            whole = 8 + length + tensors
        except OSError as error:
            raise self.broken(name, "cannot be read") from error
        except (ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
            raise self.broken(name, "is not a safetensors file") from error
        if size != whole:
            raise self.broken(name, "is truncated or has been changed")


@dataclass(frozen=True, slots=True)
class Settings:
    """A JSON object that knows its file, for errors that say where a value is wrong.

    Every getter raises `ModelFilesError` when the value is absent without a default, or of another kind.
    """

    folder: ModelFolder
    name: str
    values: Mapping[str, Any]

    def number(self, key: str, default: float | None = None) -> float:
        """A number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(key, "a number")
        return float(value)

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, "a whole number")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Yes or no."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of numbers."""
        value = self._get(key, None)
        if not isinstance(value, list) or not all(type(item) in (int, float) for item in value):
            raise self._wrong(key, "a list of numbers")
        return tuple(float(item) for item in value)

    def inner(self, key: str) -> Settings:
        """An object within."""
        value = self._get(key, None)
        if not isinstance(value, dict):
            raise self._wrong(key, "an object")
        return Settings(self.folder, self.name, value)

    def _get(self, key: str, default: Any) -> Any:
        """The value; JSON's null counts as absent, as it does for diffusers."""
        value = self.values.get(key)
        return default if value is None else value

    def _wrong(self, key: str, expected: str) -> ModelFilesError:
        return self.folder.broken(self.name, f"must give {key} as {expected}")
