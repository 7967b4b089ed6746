"""From the files that packages carry to a folder that MLX loads. No torch, no hub, no MLX: numpy in, safetensors out.

Float32 throughout: on a CPU it is the fastest type for MLX, whose half and quantised kernels are scalar there.
"""

from __future__ import annotations

from pathlib import Path

from mirza.models.kinds import Build


def convert(build: Build, folder: Path) -> None:
    """Rebuilds `folder` in place.

    Raises:
        ModelDamaged: its files are not what they should be.
    """
    match build:
        case Build.SMOLLM2:
            from mirza.models.convert_smollm2 import smollm2

            smollm2(next(folder.glob("*.gguf")), folder)
        case Build.WHISPER_MLX:
            from mirza.models.convert_whisper import whisper

            whisper(folder)
