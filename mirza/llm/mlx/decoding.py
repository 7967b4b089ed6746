"""Token after token: plain, and with a draft that the model verifies. Both give the same tokens.

A generator of ids. Whenever it is closed, the ledger holds exactly what the cache holds.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Collection, Generator
from typing import cast

import mlx.core as mx
from mlx_vlm.speculative.cache_state import start_speculative_cache

from mirza.llm.mlx.sampler import TurnSampler
from mirza.llm.mlx.session import Session
from mirza.llm.mlx.speculation import Drafter, DraftPolicy
from mirza.llm.mlx.target import Forward


def decode_plain(session: Session, sampler: TurnSampler, prompt: Forward) -> Generator[int]:
    """Tokens for as long as they are read, one pass each. `prompt` is the pass over the prompt's last token.

    The next pass is under way before a token is read back, so the device never waits for Python; on a CPU it is written
    down by then. A token that was yielded is therefore in the cache already.
    """
    token = sampler.sample_target(_logits(prompt), [0])
    mx.async_eval(token)
    yield from _steps(session, sampler, token, 0)


def _steps(
    session: Session, sampler: TurnSampler, token: mx.array, position: int, said: bool = False
) -> Generator[int]:
    """Feeds `token`, picked for `position`, then the one it leads to, and so on."""
    # On a CPU `async_eval` returns when all but ten operations are done (mlx 0.32, scheduler.h): each token would be
    # said a whole pass after it was known.
    pipelined = not session.target.on_cpu
    while True:
        forward = session.target.forward(token, session.cache, len(session.ids), keep=1)
        following = sampler.sample_target(_logits(forward), [position + 1])
        if pipelined:
            mx.async_eval(following)
        session.ids.append(int(token.item()))
        if not said:
            yield session.ids[-1]
        if not pipelined:
            mx.async_eval(following)
        token, position, said = following, position + 1, False


def decode_speculative(
    session: Session,
    sampler: TurnSampler,
    prompt: Forward,
    *,
    drafter: Drafter,
    policy: DraftPolicy,
    stops: Collection[int],
) -> Generator[int]:
    """Tokens for as long as they are read, several a pass where the draft was right.

    A round drafts, verifies the draft in one pass inside a cache transaction, and commits what was right before it
    yields. The token that the model put where the draft ended is not in the cache when it is yielded. Nothing behind
    a stop token is committed.
    """
    # 1. The first token, from the prompt.
    token = int(sampler.sample_target(_logits(prompt), [0]).item())
    position = 0
    hidden = cast(mx.array, prompt.hidden)
    known = hidden.shape[1]
    drafter.begin()
    drafter.observe([*session.ids[len(session.ids) - known + 1 :], token], hidden, len(session.ids) - known)
    yield token
    while policy.pays:
        # 2. Draft behind it, and verify the draft.
        draft = drafter.propose(policy.depth)
        block = [token, *draft]
        with start_speculative_cache(session.cache, len(block)) as transaction:
            forward = session.target.forward(mx.array(block), session.cache, len(session.ids), keep=len(block))
            positions = range(position + 1, position + 1 + len(block))
            chosen = cast("list[int]", sampler.sample_target(_logits(forward), positions).tolist())
            fresh = _agreed(draft, chosen, stops)
            # 3. Keep what was right: the last of the fresh tokens is not in the cache yet, unless the draft ended it.
            ended = len(fresh) <= len(draft) and fresh == draft[: len(fresh)]
            kept = len(fresh) + 1 if ended else len(fresh)
            transaction.commit(kept)
        session.ids += block[:kept]
        policy.record(len(draft), kept - 1)
        drafter.observe(fresh, cast(mx.array, forward.hidden)[:, : len(fresh)], len(session.ids) - kept)
        # 4. Say it.
        for token in fresh:
            position += 1
            yield token
    # 5. It does not pay in this answer: the rest goes token by token.
    yield from _steps(session, sampler, mx.array([token]), position, said=True)


def _agreed(draft: list[int], chosen: list[int], stops: Collection[int]) -> list[int]:
    """The draft as far as it is right, then the model's own token; nothing behind a stop token."""
    fresh: list[int] = []
    for place, own in enumerate(chosen):
        fresh.append(own)
        if own in stops or place == len(draft) or draft[place] != own:
            break
    return fresh


def _logits(forward: Forward) -> mx.array:
    assert forward.logits is not None
    return forward.logits
