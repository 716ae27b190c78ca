"""The pupils of a class: what each does, what each was shown, and whether that was the right answer."""

from __future__ import annotations

import asyncio
import html
import math
import random
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import psutil

from tools.streamlit_client import PageSession, open_session
from transformer import Translator

MODEL = "en-fr"
LAYERS, HEADS = 3, 4  # of the model
PAUSE_SECONDS = 2.0, 8.0  # least and most, between two acts of a pupil
TYPING_SHARE = 0.2  # of a pupil's acts
MAX_TOKENS = 512  # tokens of a huge request
BEAM_SIZE = 10


@dataclass
class Answer:
    """A picture that a session was shown: its sentence, its head, and the translation as it is read out."""

    text: str
    layer: int  # from 0, as the head
    head: int
    title: str
    weights: np.ndarray
    spoken: str


@dataclass
class Register:
    """The record of what happened in the class."""

    condition: str = ""  # what else keeps the server busy now; "": nothing
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # milliseconds by act and `beside`
    answers: list[Answer] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    huge: list[float] = field(default_factory=list)  # seconds of each huge request that was answered
    begun: int = 0  # huge requests
    probe: list[float] = field(default_factory=list)  # milliseconds
    memory: list[tuple[float, float]] = field(default_factory=list)  # seconds, megabytes

    async def timed(self, name: str, act: Awaitable[None]) -> None:
        """Record how long an act takes, under the condition at its beginning, or else the one at its end."""
        before, begun = self.condition, time.perf_counter()
        await act
        condition = before or self.condition
        self.took[f"{name} {condition}".strip()].append(1000 * (time.perf_counter() - begun))


async def pupil(
    url: str,
    number: int,
    texts: Iterator[str],
    has_ended: Callable[[], bool],
    register: Register,
    pause: tuple[float, float] = PAUSE_SECONDS,
) -> None:
    """Play one session: open the app, choose heads and type sentences until the class is over."""
    draw = random.Random(number)
    try:
        await asyncio.sleep(draw.uniform(0, 5 * pause[1] / 3))
        text = next(texts)
        async with open_session(url, model=MODEL, text=text, layer="1", head="1") as page:
            begun = time.perf_counter()
            await register.timed("opening", page.run())
            if not math.isnan(page.first):
                register.took["opening, until any heads are there"].append(1000 * (page.first - begun))
            layer = head = 0
            register.answers.append(answer(page, text, layer, head))
            while True:
                await asyncio.sleep(draw.uniform(*pause))
                if has_ended():
                    return
                if draw.random() < TYPING_SHARE:
                    text = next(texts)
                    await register.timed("typing", page.type(text))
                else:
                    layer, head = draw.randrange(LAYERS), draw.randrange(HEADS)
                    await register.timed("choosing", page.choose(layer, head))
                register.errors += page.errors()
                register.answers.append(answer(page, text, layer, head))
    except Exception as error:  # whatever it is, the class goes on and tells of it
        register.errors.append(f"pupil {number}: {type(error).__name__}: {error}")


def answer(page: PageSession, text: str, layer: int, head: int) -> Answer:
    title, weights = page.head()
    return Answer(text, layer, head, title, weights, page.translation())


def wrong(answers: list[Answer], model: Translator) -> list[Answer]:
    """Return the answers that differ from the library's for the same sentence and head."""
    wrong_answers = []
    for text in dict.fromkeys(answer.text for answer in answers):
        trace = model.trace(text)
        for answer in (answer for answer in answers if answer.text == text):
            weights = trace.cross[answer.layer, answer.head]
            right = answer.title == f"Layer {answer.layer + 1}, head {answer.head + 1}"
            right = right and answer.weights.shape == weights.shape and np.allclose(answer.weights, weights, atol=1e-5)
            words = re.search(r'aria-label="[^:]*: (.*)\. Sequence log-probability', answer.spoken)
            right = right and words is not None and words[1] == html.escape(trace.translation)
            wrong_answers += [] if right else [answer]
    return wrong_answers


async def huge(url: str, model: Translator, register: Register) -> None:
    """Ask for the longest sentence that the model reads, with the widest beam, again and again."""
    while True:
        text = longest(model, register.begun)
        register.begun += 1
        async with open_session(url, "decoding", model=MODEL, text=text, strategy="beam", size=str(BEAM_SIZE)) as page:
            begun = time.perf_counter()
            await page.run(seconds=600)
            register.huge.append(time.perf_counter() - begun)
            register.errors += page.errors() or ([] if page.shows("player") else ["a huge request has no answer"])


def longest(model: Translator, number: int) -> str:
    """Return a text of as many tokens as the model reads, a different one for each number."""
    words = f"{number} dogs run on the beach while a man in a blue shirt looks at the water . ".split()
    size = MAX_TOKENS
    while True:
        text = " ".join(words[n % len(words)] for n in range(size))
        excess = len(model.checkpoint.source_tokenizer.encode(text)) + 1 - MAX_TOKENS
        if excess <= 0:
            return text
        size -= max(1, excess // 2)


def server_of(url: str) -> psutil.Process:
    """Return the process that answers at an address."""
    port = int(url.rsplit(":", 1)[1])
    for child in psutil.Process().children(recursive=True):
        if any(c.laddr.port == port and c.status == psutil.CONN_LISTEN for c in child.net_connections("tcp")):
            return child
    raise ValueError(f"Nothing listens at {url}.")
