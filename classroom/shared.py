"""The store of several machines: a Redis server. How durable it is, that server's own settings say (appendonly yes)."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import redis
from redis.client import Pipeline

from classroom.store import Act, Full, Gone, Json, Slot, State, Store

_CLASSES = "headlight:classes"  # the end of each
_PARTS = "state", "version", "documents", "pupils", "answers"


class Shared(Store):
    def __init__(self, address: str):
        try:
            self.redis: Any = redis.Redis.from_url(
                address, decode_responses=True, socket_timeout=10, socket_connect_timeout=5, health_check_interval=30
            )
        except ValueError as error:
            raise ValueError(f"HEADLIGHT_REDIS can't be read ({error}): give redis://HOST:PORT/NUMBER.") from None

    def add(self, code: str, state: State, most: int) -> bool:
        def act(pipe: Pipeline) -> bool:
            found: Any = pipe.zrange(_CLASSES, 0, -1, withscores=True)
            ends = {name: end for name, end in found if end > time.time()}
            if len(ends) >= most:
                raise Full(f"This server holds {most} classes already: end one, or wait until one has ended.")
            taken = code in ends
            pipe.multi()
            if not taken:
                pipe.zadd(_CLASSES, {code: state.until})
                pipe.set(_key(code, "state"), state.text(), exat=_end(state))
                pipe.set(_key(code, "version"), 1, exat=_end(state))
            return not taken

        self.sweep()
        return bool(self.redis.transaction(act, _CLASSES, value_from_callable=True))

    def state(self, code: str) -> tuple[int, State]:
        version, text = self.redis.mget(_key(code, "version"), _key(code, "state"))
        return int(version or 0), _read(text)

    def versions(self, codes: list[str]) -> dict[str, int]:
        found = self.redis.mget([_key(code, "version") for code in codes]) if codes else []
        return {code: int(version) for code, version in zip(codes, found, strict=True) if version is not None}

    def change(self, code: str, act: Act) -> State:
        def tried(pipe: Pipeline) -> State:
            state, documents = act(_read(pipe.get(_key(code, "state"))))
            pipe.multi()
            pipe.set(_key(code, "state"), state.text(), exat=_end(state))
            pipe.incr(_key(code, "version"))
            if documents:
                pipe.hset(_key(code, "documents"), mapping={name: json.dumps(body) for name, body in documents.items()})
                pipe.expireat(_key(code, "documents"), _end(state))
            return state

        changed: State = self.redis.transaction(tried, _key(code, "state"), value_from_callable=True)
        return changed

    def document(self, code: str, name: str) -> Json:
        self.state(code)
        text = self.redis.hget(_key(code, "documents"), name)
        return None if text is None else json.loads(text)

    def enter(self, code: str, pupil: str, most: int) -> None:
        def act(pipe: Pipeline) -> None:
            state, count = _read(pipe.get(_key(code, "state"))), pipe.scard(_key(code, "pupils"))
            if count >= most:
                raise Full(f"This class has {most} pupils already.")
            pipe.multi()
            pipe.sadd(_key(code, "pupils"), pupil)
            pipe.expireat(_key(code, "pupils"), _end(state))

        self.redis.transaction(act, _key(code, "state"), _key(code, "pupils"))

    def pupils(self, code: str) -> set[str]:
        self.state(code)
        return set(self.redis.smembers(_key(code, "pupils")))

    def put(self, code: str, pupil: str, slot: Slot, guess: Json, allowed: Callable[[State], None]) -> None:
        def act(pipe: Pipeline) -> None:
            state = _read(pipe.get(_key(code, "state")))
            allowed(state)
            if not pipe.sismember(_key(code, "pupils"), pupil):
                raise Gone("You are not in this class: join it with its code.")
            pipe.multi()
            pipe.hset(_key(code, "answers"), json.dumps([*slot, pupil]), json.dumps(guess))
            pipe.expireat(_key(code, "answers"), _end(state))

        self.redis.transaction(act, _key(code, "state"))  # answers don't change it, so they don't wait for each other

    def answers(self, code: str, slot: Slot) -> dict[str, Json]:
        self.state(code)
        found = ((json.loads(name), guess) for name, guess in self.redis.hgetall(_key(code, "answers")).items())
        return {pupil: json.loads(guess) for (step, round_, pupil), guess in found if (step, round_) == slot}

    def remove(self, code: str) -> None:
        def act(pipe: Pipeline) -> None:
            pipe.multi()
            pipe.delete(*(_key(code, part) for part in _PARTS))
            pipe.zrem(_CLASSES, code)

        self.redis.transaction(act, _key(code, "state"))  # an answer comes before it or not at all

    def sweep(self) -> None:
        self.redis.zremrangebyscore(_CLASSES, 0, time.time())  # the rest goes by itself


def _key(code: str, part: str) -> str:
    return f"headlight:{{{code}}}:{part}"


def _end(state: State) -> int:
    return math.ceil(state.until)


def _read(text: Any) -> State:
    state = State.of(text) if text else None
    if state is None or state.until <= time.time():
        raise Gone("There is no such class: it may have ended.")
    return state
