"""Work that is always the same says how quick the machine is."""

from __future__ import annotations

from mirza.bench.pace import pace


def test_the_pace_of_a_machine_has_its_processor_its_memory_and_its_mathematics():
    seconds = pace()
    assert set(seconds) == {"python", "memory", "product"}
    assert all(0 < took < 60 for took in seconds.values())
