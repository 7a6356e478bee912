"""Which library runs an open_clip folder: the folder says."""

from __future__ import annotations

from pathlib import Path

from discriminators.clip_embeddings import ClipEmbeddings
from discriminators.embeddings import Embeddings
from discriminators.open_clip_embeddings import OpenClipEmbeddings


def open_embeddings(folder: Path, threads: int, device: str = "cpu") -> Embeddings:
    """Load a CLIP: through onnxruntime on the CPU if the folder has `onnx/` graphs, else through open_clip and torch.

    Args:
        folder: an open_clip folder.
        threads: CPU threads of one picture.
        device: a torch device; graphs stay on the CPU.

    Raises:
        ModelFilesError: the folder is missing, incomplete or corrupt, or needs torch, which is not installed.
    """
    if (folder / "onnx").is_dir():
        return ClipEmbeddings(folder, threads)
    return OpenClipEmbeddings(folder, threads, device)
