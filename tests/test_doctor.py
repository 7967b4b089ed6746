"""`mirza doctor`: what is there, what is missing, and how it is mended."""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path

import pytest

from mirza import doctor
from mirza.audio.portaudio import Device
from mirza.doctor import Finding, State, examine
from mirza.errors import NoDevice
from mirza.settings_sources import Loaded, load


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Settings with folders of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def make(**overrides: str) -> Loaded:
        folders = {"paths.data": str(tmp_path / "data"), "paths.cache": str(tmp_path / "cache")}
        return load(folders | {name.replace("__", "."): value for name, value in overrides.items()}, files=[])

    return make


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch):
    """A machine with one device, unless the test says otherwise."""
    found: list[Device] = [Device(0, "Desk", "ALSA", 1, 2, 48_000, default_input=True, default_output=True)]
    monkeypatch.setattr("mirza.audio.devices.devices", lambda: found)
    return found


def of(area: str, findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.area == area]


def test_a_machine_is_described_with_its_memory_devices_rates_and_versions(settings):
    findings = list(examine(settings()))

    assert any("GB of memory" in finding.what for finding in of("machine", findings))
    (desk,) = of("sound", findings)
    assert "48000 Hz" in desk.what
    assert "default microphone, the default loudspeaker" in desk.what
    assert desk.facts["rate"] == 48_000
    assert {"mlx", "onnxruntime"} <= {finding.facts.get("name") for finding in of("versions", findings)}
    assert of("mlx", findings)[0].state is State.FINE


def test_on_a_gpu_it_is_told_where_compiled_kernels_stay(settings, monkeypatch):
    import mlx.core as mx

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(mx, "default_device", lambda: "Device(gpu, 0)")
    monkeypatch.setenv("MLX_PTX_CACHE_DIR", "/var/cache/kernels")

    findings = list(examine(settings()))

    assert "/var/cache/kernels" in of("kernels", findings)[0].what
    assert not of("blas", findings)


def test_models_that_are_missing_come_with_the_command_that_gets_them(settings):
    findings = list(examine(settings()))

    missing = of("models", findings)
    assert missing
    assert all(finding.state is State.MISSING for finding in missing)
    assert {finding.do for finding in missing} == {"mirza models pull --default"}


def test_without_portaudio_mirza_can_still_type(settings, monkeypatch):
    def none() -> list[Device]:
        raise NoDevice("PortAudio is not installed.", "sudo apt install libportaudio2")

    monkeypatch.setattr("mirza.audio.devices.devices", none)

    (sound,) = of("sound", list(examine(settings())))

    assert sound == Finding("sound", "PortAudio is not installed.", State.WITHOUT, "sudo apt install libportaudio2")


def test_a_machine_without_a_microphone_is_told(settings, devices):
    devices[0] = Device(0, "Speakers", "ALSA", 0, 2, 44_100, default_output=True)

    _, microphone = of("sound", list(examine(settings())))

    assert microphone.what == "There is no microphone."
    assert microphone.state is State.WITHOUT


def test_a_server_that_does_not_answer_is_a_finding_and_not_the_end(settings):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"

        findings = list(examine(settings(llm__engine="openai", openai__base_url=address)))

    (server,) = of("language model", findings)
    assert server.state is State.MISSING
    assert "openai.base_url" in server.do
    assert of("versions", findings)


def test_a_folder_that_is_no_model_is_a_finding(settings, tmp_path):
    (tmp_path / "empty").mkdir()

    (model,) = of("language model", list(examine(settings(llm__model=str(tmp_path / "empty")))))

    assert model.state is State.MISSING
    assert model.do


def test_little_room_on_the_disk_is_told(settings, monkeypatch):
    monkeypatch.setattr(doctor, "LITTLE_ROOM_BYTES", 1 << 62)

    assert all(finding.state is State.WITHOUT for finding in of("folders", list(examine(settings()))))


def test_json_is_one_object_a_line_and_the_status_says_whether_something_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    folders = [f"paths.data={tmp_path / 'data'}", f"paths.cache={tmp_path / 'cache'}"]

    status = doctor.run(argparse.Namespace(json=True, set=folders, profile=""))

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 1
    assert all(set(line) == {"area", "what", "state", "do", "facts"} for line in lines)
    assert "missing" in {line["state"] for line in lines}


def test_for_people_what_mends_it_stands_below_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    folders = [f"paths.data={tmp_path / 'data'}", f"paths.cache={tmp_path / 'cache'}"]

    doctor.run(argparse.Namespace(json=False, set=folders, profile=""))

    out = capsys.readouterr().out
    line = next(number for number, text in enumerate(out.splitlines()) if text.startswith("!!  models"))
    assert out.splitlines()[line + 1].strip() == "mirza models pull --default"
