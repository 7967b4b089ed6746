"""Settings: which layer wins, what is said to someone who got one wrong, and the files made from the tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mirza.errors import SettingsError
from mirza.folders import PROJECT, cache_folder, data_folder
from mirza.settings import PathSettings, SettingsTree
from mirza.settings_command import value_of
from mirza.settings_file import put, unset
from mirza.settings_sources import load, load_settings, profiles
from mirza.settings_text import COPY_HEADER, described, markdown, sections, toml


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.upper().startswith("MIRZA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))


def file(tmp_path: Path, text: str, name: str = "mirza.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# --- which layer wins ------------------------------------------------------------------------------------------------


def test_without_anything_the_defaults_hold():
    loaded = load()

    assert loaded.tree == SettingsTree()
    assert loaded.origin("llm.model") == "default"


def test_each_layer_wins_over_the_ones_below_it_and_says_where_a_value_came_from(tmp_path, monkeypatch):
    everybody = file(
        tmp_path, '[llm]\nmax_tokens = 1\ntop_k = 1\nseed = 1\nmodel = "a"\nprefill_step = 21\n', "all.toml"
    )
    mine = file(tmp_path, '[llm]\nmax_tokens = 2\ntop_k = 2\nseed = 2\nmodel = "b"\n', "mine.toml")
    profile = file(tmp_path, "[llm]\nmax_tokens = 3\ntop_k = 3\nseed = 3\n", "fast.toml")
    monkeypatch.setattr("mirza.settings_sources.profiles", lambda: {"fast": profile})
    monkeypatch.setenv("MIRZA_LLM__MAX_TOKENS", "4")
    monkeypatch.setenv("MIRZA_LLM__TOP_K", "4")

    loaded = load({"llm.max_tokens": 5}, profile="fast", files=[everybody, mine])

    llm = loaded.tree.llm
    assert (llm.max_tokens, llm.top_k, llm.seed, llm.model, llm.prefill_step) == (5, 4, 3, "b", 21)
    assert [loaded.origin(f"llm.{name}") for name in ("max_tokens", "top_k", "seed", "model", "prefill_step")] == [
        "this command",
        "MIRZA_LLM__TOP_K",
        "profile fast",
        str(mine),
        str(everybody),
    ]


def test_the_profile_can_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("MIRZA_PROFILE", "french")

    assert load_settings().stt.language == "fr"


@pytest.mark.parametrize("name", sorted(profiles()))
def test_every_profile_that_comes_with_mirza_is_right_and_changes_something(name):
    assert load_settings(profile=name) != SettingsTree()


def test_a_whole_group_may_be_one_variable(monkeypatch):
    monkeypatch.setenv("MIRZA_TURNS", '{"barge_in": false, "stop_s": 0.5}')

    loaded = load()

    assert (loaded.tree.turns.barge_in, loaded.tree.turns.stop_s) == (False, 0.5)
    assert loaded.origin("turns.stop_s") == "MIRZA_TURNS"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("llm.kv_bits", "4", 4),
        ("llm.logit_bias", '{"5": -2}', {5: -2.0}),
        ("llm.temperature", "unset", None),
        ("llm.temperature", "0.5", 0.5),
        ("turns.barge_in", "no", False),
        ("llm.thinking_budget", "1.5s", "1.5s"),
        ("audio.echo_cancel", "on", "on"),
        ("llm.seed", "7", 7),
    ],
)
def test_text_from_a_flag_or_a_variable_means_what_a_person_means(name, text, value, monkeypatch):
    assert value_of(load_settings({name: text}), name) == value

    monkeypatch.setenv("MIRZA_" + name.upper().replace(".", "__"), text)
    assert value_of(load_settings(), name) == value


@pytest.mark.parametrize(("written", "budget"), [("256", "256"), ("false", "off"), ("true", "on"), ('"2s"', "2s")])
def test_a_file_may_give_a_budget_as_a_number_or_a_switch(tmp_path, written, budget):
    path = file(tmp_path, f"[llm]\nthinking_budget = {written}\n")

    assert load(files=[path]).tree.llm.thinking_budget == budget


# --- what is said to someone who got one wrong -----------------------------------------------------------------------


def test_a_misspelt_variable_names_the_setting_that_was_meant(monkeypatch):
    monkeypatch.setenv("MIRZA_LLM__THINKING_BUGDET", "0")

    with pytest.raises(SettingsError) as wrong:
        load_settings()

    assert "MIRZA_LLM__THINKING_BUGDET" in wrong.value.what
    assert "llm.thinking_budget" in wrong.value.do


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[llm]\nthinking_bugdet = 0", "llm.thinking_budget"),
        ("[lmm]\nmodel = 'x'", "llm.model"),
        ("thinking_budget = 0", "llm.thinking_budget"),
        ("[conversation]\nbarge_in = true", "turns.barge_in"),
        ("[llm.thinking]\nbudget = 3", "llm.thinking_budget"),
        ("llm = 5", "mirza settings show llm"),
        ("[voice]\nzzz = 5", "mirza settings"),
    ],
)
def test_a_name_in_a_file_that_does_not_exist_names_the_nearest(tmp_path, written, meant):
    path = file(tmp_path, written)

    with pytest.raises(SettingsError) as wrong:
        load(files=[path])

    assert str(path) in wrong.value.what
    assert meant in wrong.value.do


@pytest.mark.parametrize(
    "variable",
    ["MIRZA_LLLM__MODEL", "MIRZA_MODEL", "MIRZA_LLM__MODEL__NAME", "MIRZA_LLM_MODEL", "MIRZA_LLM__LOGIT_BIAS__5"],
)
def test_no_variable_of_ours_is_ignored(variable, monkeypatch):
    monkeypatch.setenv(variable, "x")

    with pytest.raises(SettingsError, match=variable):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("llm.top_p", "1.5", "a number above 0, at most 1, or unset"),
        ("llm.max_tokens", "0", "a whole number from 1 to 32768"),
        ("llm.max_tokens", "many", "a whole number from 1 to 32768"),
        ("llm.max_tokens", "2.5", "a whole number"),
        ("llm.top_k", "", "a whole number, 0 or more, or unset"),
        ("llm.temperature", "nan", "a number from 0 to 2"),
        ("llm.kv_bits", "3", "one of 0, 4, 8"),
        ("llm.thinking_budget", "-1", "a number of tokens, seconds like 1.5s, or off"),
        ("llm.engine", "", "text, not empty"),
        ("turns.barge_in", "perhaps", "true or false"),
        ("stt.language", "English", "a language code"),
        ("openai.base_url", "localhost:8000", "begins with http"),
        ("llm.logit_bias", "5", "numbers by token id"),
        ("llm.logit_bias", "five", "JSON"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(name, value, words, monkeypatch):
    variable = "MIRZA_" + name.upper().replace(".", "__")
    monkeypatch.setenv(variable, value)

    with pytest.raises(SettingsError) as wrong:
        load_settings()

    assert variable in wrong.value.what
    assert words in wrong.value.do
    assert "pydantic" not in str(wrong.value)


def test_a_profile_that_does_not_exist_names_the_nearest():
    with pytest.raises(SettingsError, match="french"):
        load_settings(profile="frnch")


def test_a_file_that_is_no_toml_says_which_line(tmp_path):
    path = file(tmp_path, "[llm]\nmodel = Qwen\n")

    with pytest.raises(SettingsError, match="line 2"):
        load(files=[path])


def test_a_file_in_another_encoding_says_so(tmp_path):
    path = tmp_path / "mirza.toml"
    path.write_bytes('[llm]\nsystem = "Né"\n'.encode("latin-1"))

    with pytest.raises(SettingsError, match="not UTF-8"):
        load(files=[path])


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    blocked = file(tmp_path, "a file", "blocked")

    with pytest.raises(Exception, match="cannot be made"):
        data_folder(PathSettings(data=blocked / "data"))


def test_folders_are_where_the_settings_say(tmp_path):
    paths = PathSettings(data=tmp_path / "d", cache=Path("~/c"))

    assert data_folder(paths) == tmp_path / "d"
    assert cache_folder(paths) == tmp_path / "c"
    assert (tmp_path / "c").is_dir()


# --- other locales ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["file", "variable", "flag"])
def test_a_prompt_in_another_script_survives_a_c_locale(tmp_path, by):
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    command = [sys.executable, "-m", "mirza", "settings", "show", "llm", "--json"]
    match by:
        case "file":
            folder = tmp_path / ".config" / "mirza"
            folder.mkdir(parents=True)
            file(folder, '[llm]\nsystem = "Привет"\n')
            env["XDG_CONFIG_HOME"] = str(tmp_path / ".config")
        case "variable":
            env["MIRZA_LLM__SYSTEM"] = "Привет"
        case _:
            command += ["--set", "llm.system=Привет"]

    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, check=True)

    values = {line["name"]: line["value"] for line in map(json.loads, done.stdout.decode("utf-8").splitlines())}
    assert values["llm.system"] == "Привет"


# --- the user's file -------------------------------------------------------------------------------------------------


def test_setting_one_value_keeps_what_else_is_in_the_file(tmp_path):
    path = file(tmp_path, "# mine\n[llm]\nmax_tokens = 99  # enough\n")

    put(path, "llm.thinking_budget", "256")
    put(path, "tts.speed", "1.25")

    assert (
        path.read_text() == '# mine\n[llm]\nmax_tokens = 99  # enough\nthinking_budget = "256"\n\n[tts]\nspeed = 1.25\n'
    )
    assert load(files=[path]).tree.tts.speed == 1.25


@pytest.mark.parametrize(
    ("name", "text"), [("llm.logit_bias", '{"7": 1.5}'), ("paths.data", "~/x"), ("openai.api_key", "k")]
)
def test_every_kind_of_value_can_be_written_and_read_back(tmp_path, name, text):
    path = tmp_path / "mirza.toml"

    put(path, name, text)

    section, key = name.split(".")
    before, after = (
        getattr(getattr(tree, section), key) for tree in (load_settings({name: text}), load(files=[path]).tree)
    )
    assert before == after


def test_taking_a_value_out_says_whether_it_was_there(tmp_path):
    path = file(tmp_path, "[llm]\nmax_tokens = 99\nseed = 1\n")

    assert unset(path, "llm.seed")
    assert not unset(path, "llm.seed")
    assert path.read_text() == "[llm]\nmax_tokens = 99\n"


def test_a_value_that_does_not_fit_leaves_the_file_alone(tmp_path):
    path = file(tmp_path, "[llm]\nseed = 1\n")

    with pytest.raises(SettingsError):
        put(path, "llm.top_p", "7")

    assert path.read_text() == "[llm]\nseed = 1\n"


def test_the_file_is_for_the_users_eyes_only(tmp_path):
    path = tmp_path / "mirza.toml"

    put(path, "openai.api_key", "secret")

    assert path.stat().st_mode & 0o077 == 0


def test_a_key_is_never_shown():
    tree = load_settings({"openai.api_key": "secret"})

    assert value_of(tree, "openai.api_key") == "***"
    assert "secret" not in repr(tree)


# --- the files made from the tree ------------------------------------------------------------------------------------


def test_the_settings_file_and_the_reference_are_what_the_tree_says():
    """When this fails, run `make docs`."""
    assert (PROJECT / "config" / "mirza.toml").read_text(encoding="utf-8") == toml(*COPY_HEADER)
    assert (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8") == markdown()


def test_the_settings_file_with_every_line_uncommented_is_the_defaults(tmp_path):
    lines = [line.removeprefix("#") if " = " in line and line[1] != " " else line for line in toml().splitlines()]
    path = file(tmp_path, "\n".join(line for line in lines if not line.endswith(" = ...")))

    loaded = load(files=[path])

    assert loaded.tree == SettingsTree()
    unset_by_default = [setting for setting in described().values() if setting.default == "unset"]
    assert len(loaded.origins) == len(described()) - len(unset_by_default)


def test_every_setting_says_what_it_takes_and_what_it_is_for():
    for section in sections():
        assert section.about
        for setting in section.settings:
            assert setting.takes, setting.name
            assert len(setting.about) > 10, setting.name
