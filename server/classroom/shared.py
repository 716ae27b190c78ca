"""The store for several machines: a Redis server, whose settings say how durable it is (appendonly yes)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis
from redis.client import Pipeline

from server.classroom.store import (
    Act,
    ClassNotFound,
    ClassState,
    DamagedRecord,
    Json,
    Slot,
    Store,
    damage_stamp,
    ended_before,
    full_class,
    full_server,
    not_a_pupil,
    now,
    parse,
    repairing,
)
from transformer.access import allow_network

_CLASSES = "headlight:classes"  # a sorted set: the code of each class by the time at which it ends
_PARTS = "state", "version", "documents", "pupils", "answers"
# Keys expire a day after their class ends, in case the clock of the Redis server jumps; `sweep` removes them earlier.
_EXPIRY_MARGIN_SECONDS = 24 * 3600
_DAMAGE = "WRONGTYPE", "ERR value is not an integer", "value is not an integer"


class RedisStore(Store):
    def __init__(self, address: str):
        super().__init__()
        try:
            pool = redis.ConnectionPool.from_url(
                address, decode_responses=True, socket_timeout=10, socket_connect_timeout=5, health_check_interval=30
            )
        except ValueError as error:
            raise ValueError(f"HEADLIGHT_REDIS can't be read ({error}): give redis://HOST:PORT/NUMBER.") from None
        pool.connection_class = _let_through(pool.connection_class)
        self.redis: Any = redis.Redis(connection_pool=pool)

    @repairing
    def add(self, code: str, state: ClassState, limit: int) -> bool:
        def act(pipe: Pipeline) -> bool:
            entries: Any = pipe.zrange(_CLASSES, 0, -1, withscores=True)
            ends = {name: end for name, end in entries if end > ended_before()}
            if len(ends) >= limit:
                raise full_server(limit)
            exists = code in ends
            pipe.multi()
            if not exists:
                pipe.delete(*_keys(code))
                pipe.set(_key(code, "version"), 1)
                _write_state(pipe, code, state)
            return not exists

        self.sweep()
        return bool(self.redis.transaction(act, _CLASSES, value_from_callable=True))

    @repairing
    def state(self, code: str) -> tuple[int, ClassState]:
        version, text = self.redis.mget(_key(code, "version"), _key(code, "state"))
        state = self._read(code, text)
        if not (version or "").isdecimal():
            raise DamagedRecord("a version that is not a number")
        return int(version), state

    @repairing
    def versions(self, codes: list[str]) -> dict[str, int]:
        records = (
            self.redis.mget([_key(code, part) for code in codes for part in ("version", "state")]) if codes else []
        )
        versions = {}
        for code, version, text in zip(codes, records[::2], records[1::2], strict=True):
            with suppress(ClassNotFound, DamagedRecord):  # `state` reports a damaged class to whoever follows it
                self._read(code, text)
                versions[code] = int(version) if (version or "").isdecimal() else -1
        return versions

    @repairing
    def change(self, code: str, act: Act) -> ClassState:
        def transaction(pipe: Pipeline) -> ClassState:
            state, documents = act(self._read(code, pipe.get(_key(code, "state"))))
            state = state.prolonged()
            pipe.multi()
            pipe.incr(_key(code, "version"))
            if documents:
                pipe.hset(_key(code, "documents"), mapping={name: json.dumps(body) for name, body in documents.items()})
            _write_state(pipe, code, state)
            return state

        # Redis does not roll back a transaction in which one command fails, so the types are checked before.
        self.state(code)
        self._expect(code, "documents", "hash")
        changed: ClassState = self.redis.transaction(transaction, _key(code, "state"), value_from_callable=True)
        return changed

    @repairing
    def document(self, code: str, name: str) -> Json:
        self.state(code)
        text = self.redis.hget(_key(code, "documents"), name)
        return None if text is None else parse(text)

    @repairing
    def enter(self, code: str, pupil: str, limit: int) -> None:
        def act(pipe: Pipeline) -> None:
            state, count = self._read(code, pipe.get(_key(code, "state"))), pipe.scard(_key(code, "pupils"))
            if count >= limit:
                raise full_class(limit)
            pipe.multi()
            pipe.sadd(_key(code, "pupils"), pupil)
            _prolong(pipe, code, state, "pupils")

        self.redis.transaction(act, _key(code, "state"), _key(code, "pupils"))

    @repairing
    def pupils(self, code: str) -> set[str]:
        self.state(code)
        return set(self.redis.smembers(_key(code, "pupils")))

    @repairing
    def put(self, code: str, pupil: str, slot: Slot, guess: Json, allowed: Callable[[ClassState], None]) -> None:
        def act(pipe: Pipeline) -> None:
            state = self._read(code, pipe.get(_key(code, "state")))
            allowed(state)
            if not pipe.sismember(_key(code, "pupils"), pupil):
                raise not_a_pupil()
            pipe.multi()
            pipe.hset(_key(code, "answers"), json.dumps([*slot, pupil]), json.dumps(guess))
            _prolong(pipe, code, state, "answers")

        self._expect(code, "answers", "hash")
        self.redis.transaction(act, _key(code, "state"))  # answers don't change it, so they don't wait for each other

    @repairing
    def answers(self, code: str, slot: Slot) -> dict[str, Json]:
        self.state(code)
        entries = ((parse(name), guess) for name, guess in self.redis.hgetall(_key(code, "answers")).items())
        try:
            return {pupil: parse(guess) for (step, round_, pupil), guess in entries if (step, round_) == slot}
        except (TypeError, ValueError) as error:
            raise DamagedRecord("an answer that cannot be read") from error

    @repairing
    def remove(self, code: str) -> None:
        def act(pipe: Pipeline) -> None:
            pipe.multi()
            pipe.delete(*_keys(code))
            pipe.zrem(_CLASSES, code)

        self.redis.transaction(act, _key(code, "state"))  # an answer is written before it or not at all

    @repairing
    def sweep(self) -> None:
        for code in self.redis.zrangebyscore(_CLASSES, 0, ended_before()):
            self.remove(code)

    def repair(self, error: Exception, code: str) -> bool:
        if not isinstance(error, DamagedRecord) and not any(each in str(error) for each in _DAMAGE):
            return False
        if self.redis.type(_CLASSES) not in ("zset", "none"):
            self._rename([_CLASSES], "", "no list of classes")
        elif code.isdecimal():
            self.set_aside(code, str(error))
        return True

    def set_aside(self, code: str, damage: str) -> None:
        self._rename(_keys(code), code, damage)
        self.redis.zrem(_CLASSES, code)

    def _rename(self, keys: list[str], code: str, damage: str) -> None:
        """Rename the keys that exist; they expire after a day."""
        name = damage_stamp()
        for key in keys:
            with suppress(redis.ResponseError):  # there is no such key
                self.redis.rename(key, f"{key}:{name}")
                self.redis.expire(f"{key}:{name}", _EXPIRY_MARGIN_SECONDS)
        self.note_damage(code, damage, name, f"{keys[0]}:{name} and its like on the Redis server")

    def _expect(self, code: str, part: str, kind: str) -> None:
        if self.redis.type(_key(code, part)) not in (kind, "none"):
            raise DamagedRecord(f"{part} of another kind")

    def _read(self, code: str, text: Any) -> ClassState:
        state = ClassState.of(text) if text else None
        if state is None or state.has_ended:
            raise self.class_not_found(code)
        return state


def _let_through(kind: Any) -> Any:
    """Return a connection class of this kind that a public server may open: its address comes from the settings."""

    class Connection(kind):
        def _connect(self) -> Any:
            with allow_network():
                return super()._connect()

    return Connection


def _key(code: str, part: str) -> str:
    return f"headlight:{{{code}}}:{part}"


def _keys(code: str) -> list[str]:
    return [_key(code, part) for part in _PARTS]


def _write_state(pipe: Pipeline, code: str, state: ClassState) -> None:
    """Write the state, with the expiry of all that belongs to the class."""
    pipe.set(_key(code, "state"), state.text())
    pipe.zadd(_CLASSES, {code: state.until})
    for key in _keys(code):
        pipe.expire(key, _remaining(state))


def _prolong(pipe: Pipeline, code: str, state: ClassState, part: str) -> None:
    """Extend the life of a class after a pupil wrote `part`."""
    if prolonged := state.prolonged_by_pupil():
        _write_state(pipe, code, prolonged)
    else:
        pipe.expire(_key(code, part), _remaining(state))


def _remaining(state: ClassState) -> int:
    return math.ceil(max(0.0, state.until - now())) + _EXPIRY_MARGIN_SECONDS
