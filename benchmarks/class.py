"""A class of sixty that answers ten steps while a training runs: time until answers are stored and the truth is seen.

Each pupil has sockets of its own (tools/class_client.py) and the server is the real app. The teacher is another process
on the same store, as in an app that is served by several. In one step the server is killed (SIGKILL) while answers come
and started again; in every step a fifth of the pupils lose their connection. When all is over, what the store holds is
compared with what was acknowledged. Then five classes meet at once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.classroom import beside_training
from benchmarks.measure import ROOT, short, spread, table
from server.classroom.classes import Classes, ClassQuestion
from server.classroom.sqlite import Sqlite
from tools import production
from tools.class_client import CONNECTION_ERRORS, Pupil
from tools.serving import free_port

AIMS = {"answer": 300, "reveal": 1500}  # milliseconds that 95 of 100 should take at most
LABELS = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "wide", ".", "[EOS]"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pupils", type=int, default=60)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--within", type=float, default=10.0, help="seconds in which all answer a step")
    parser.add_argument("--no-training", action="store_true", help="without a training beside")


def run(pupils: int, steps: int, within: float, no_training: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name, beside_training(Path(name), not no_training, None):
        os.environ |= production.environment()
        result = asyncio.run(measured(app(Path(name)), Path(name), pupils, steps, within))
    return {"pupils": pupils, "steps": steps, "within": within, "training": not no_training, **result}


@dataclass
class RestartableServer:
    """A server that can be killed and started again at the same address."""

    port: int
    folder: Path
    command: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def launch(self) -> None:
        environment = {**os.environ, "HEADLIGHT_CLASSES": str(self.folder / "classes"), "HEADLIGHT_REDIS": ""}
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(self.command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    async def start(self) -> None:
        self.launch()
        async with asyncio.timeout(180):
            while True:
                try:
                    if (await Pupil(self.url).ask("GET", "/join")).status == 200:
                        return
                except CONNECTION_ERRORS:
                    await asyncio.sleep(0.1)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def app(folder: Path) -> RestartableServer:
    port = free_port()
    options = production.options() | {"server.port": str(port), "server.address": "127.0.0.1"}
    arguments = [f"--{name}={value}" for name, value in options.items() if value]
    return RestartableServer(port, folder, [sys.executable, "-m", "streamlit", "run", "app.py", *arguments])


@dataclass
class Class:
    """A class with its pupils' connections, and each pupil's last acknowledged answer of a round."""

    classes: Classes
    code: str
    secret: str
    pupils: list[Pupil]
    acknowledged: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    refused: int = 0

    async def say(self, step: str, round_: int, pupil: Pupil, within: float, draw: random.Random) -> list[float]:
        """Play one pupil's step: wait for it, think and answer, one in five twice. Return each answer's seconds."""
        await pupil.until(60, step=step, round=round_, phase="ask")
        begun, took = time.perf_counter(), []
        for share in (0.75, 1.0) if draw.random() < 0.2 else (draw.random(),):
            await asyncio.sleep(max(0.0, begun + share * within * draw.uniform(0.8, 1.0) - time.perf_counter()))
            guess = draw.randrange(len(LABELS))
            status, seconds = await pupil.answer(step, round_, guess)
            took.append(seconds)
            if status == 200:
                self.acknowledged.setdefault((step, round_), {})[pupil.cookie.rpartition(".")[2]] = guess
            else:
                self.refused += 1
        return took

    def wrong(self) -> int:
        """Return the rounds whose stored answers differ from those acknowledged, each pupil's last one once."""
        return sum(
            self.classes.store.answers(self.code, slot) != answers for slot, answers in self.acknowledged.items()
        )


@asynccontextmanager
async def gathered(url: str, folder: Path, count: int, title: str) -> AsyncIterator[Class]:
    classes = Classes(Sqlite(folder / "classes" / "classes.sqlite3"))
    code, secret = classes.start(title)
    pupils = [Pupil(url) for _ in range(count)]
    for pupil in pupils:
        assert (await pupil.join(code)).status == 200
    following = [asyncio.create_task(pupil.follow()) for pupil in pupils]
    try:
        for pupil in pupils:
            await pupil.until(60, phase="wait")
        yield Class(classes, code, secret, pupils)
    finally:
        for task in following:
            task.cancel()


async def measured(server: RestartableServer, folder: Path, pupils: int, steps: int, within: float) -> dict[str, Any]:
    """Run the whole benchmark on a server that is started and ended here."""
    await server.start()
    try:
        result = await lesson(server, folder, pupils, steps, within)
        result["mixed"] = await five(server, folder, max(pupils // 5, 2), within / 2)
    finally:
        server.kill()
    return result


async def lesson(server: RestartableServer, folder: Path, count: int, steps: int, within: float) -> dict[str, Any]:
    draw, answers, reveals = random.Random(1), [], []
    during: list[float] = []  # answers of the step in which the server is away
    away_seconds = 0.0
    async with gathered(server.url, folder, count, "A lesson") as group:
        for number in range(1, steps + 1):
            step, rounds = f"step-{number}", 2 if number == 2 else 1
            for round_ in range(1, rounds + 1):
                if round_ == 1:
                    group.classes.open(group.code, group.secret, question(step, number, steps))
                else:
                    group.classes.ask_again(group.code, group.secret, step)
                answering = [
                    asyncio.create_task(group.say(step, round_, pupil, within, draw)) for pupil in group.pupils
                ]
                losing = draw.sample(group.pupils, max(count // 5, 1))
                await asyncio.sleep(within * 0.4)
                for pupil in losing:
                    pupil.drop()
                killed = number == (steps + 1) // 2
                if killed:
                    begun = time.perf_counter()
                    server.kill()
                    await server.start()
                    away_seconds = time.perf_counter() - begun
                took = [seconds for each in await asyncio.gather(*answering) for seconds in each]
                (during if killed else answers).extend(took)
            begun = time.perf_counter()
            group.classes.reveal(group.code, group.secret, step, truth())
            screens = [await pupil.until(60, step=step, phase="told") for pupil in group.pupils]
            reveals += [screen.at - begun for screen in screens]
        n_acknowledged = sum(len(guesses) for guesses in group.acknowledged.values())
        stored_rounds = [
            round_ for question in group.classes.results(group.code, group.secret) for round_ in question.rounds
        ]
        return {
            "answer": spread(1000 * seconds for seconds in answers),
            "answer_when_killed": spread(1000 * seconds for seconds in during),
            "reveal": spread(1000 * seconds for seconds in reveals),
            "away_seconds": away_seconds,
            "reconnected": sum(pupil.reconnected for pupil in group.pupils),
            "acknowledged": n_acknowledged,
            "kept": sum(len(round_.guesses) for round_ in stored_rounds),
            "tallied": sum(sum(round_.tally["counts"]) for round_ in stored_rounds),
            "wrong_rounds": group.wrong(),
            "refused": group.refused,
        }


async def five(server: RestartableServer, folder: Path, count: int, within: float) -> dict[str, int]:
    """Run five classes at once; count the screens and rounds that belong to another class."""
    draw = random.Random(2)
    async with AsyncExitStack() as stack:
        titles = [f"Class {letter}" for letter in "ABCDE"]
        groups = [await stack.enter_async_context(gathered(server.url, folder, count, title)) for title in titles]
        for group, title in zip(groups, titles, strict=True):
            group.classes.open(group.code, group.secret, question(title, 1, 1))
        answering = (
            group.say(title, 1, pupil, within, draw)
            for group, title in zip(groups, titles, strict=True)
            for pupil in group.pupils
        )
        await asyncio.gather(*answering)
        screens = [
            (title, screen.content["title"])
            for group, title in zip(groups, titles, strict=True)
            for pupil in group.pupils
            for screen in pupil.screens
        ]
        answers = sum(len(guesses) for group in groups for guesses in group.acknowledged.values())
        wrong = sum(expected != actual for expected, actual in screens)
        rounds = sum(group.wrong() for group in groups)
        return {"screens": len(screens), "answers": answers, "wrong_screens": wrong, "wrong_rounds": rounds}


def question(step: str, number: int, of: int) -> ClassQuestion:
    posed = {"ask": "word", "labels": LABELS, "query": "it", "picture": picture()}
    return ClassQuestion(step, step, "Where does it look most?", posed, number=number, of=of)


def picture() -> dict[str, Any]:
    """Return a picture as large as a lesson's."""
    weights = [[round(1 / len(LABELS), 4)] * len(LABELS) for _ in LABELS]
    return {"kind": "encoder", "layer": 2, "head": 2, "rows": LABELS, "columns": LABELS, "weights": weights, "asked": 7}


def truth() -> dict[str, Any]:
    return {"answer": 10, "row": [*[5.0] * 10, 40.0, 5.0, 5.0], "explanation": "It looks for the reason."}


def report(result: dict[str, Any]) -> str:
    """Format the results as README.md states them."""
    names = {
        "answer": "an answer acknowledged",
        "answer_when_killed": "in the step with the restart",
        "reveal": "revealed on a screen",
    }
    rows = [
        (label, stats["count"], short(stats["median"]), short(stats["p95"]), short(stats["most"]), AIMS.get(name, ""))
        for name, label in names.items()
        for stats in [result[name]]
    ]
    mixed = result["mixed"]
    return "\n\n".join(
        [
            f"{result['pupils']} pupils, {result['steps']} steps answered within {result['within']:g} s each, "
            f"{'a training' if result['training'] else 'nothing'} beside:",
            table(["", "count", "median ms", "p95 ms", "most ms", "aim, p95"], rows),
            f"Killed once, away for {result['away_seconds']:.1f} s; {result['reconnected']} connections came back. "
            f"Acknowledged: {result['acknowledged']} pupils' answers; in the store {result['kept']}, counted "
            f"{result['tallied']}; rounds that differ: {result['wrong_rounds']}; refused: {result['refused']}.",
            f"Five classes at once: {mixed['answers']} answers, {mixed['screens']} screens, of another class "
            f"{mixed['wrong_screens']}, rounds that differ {mixed['wrong_rounds']}.",
        ]
    )
