"""A small class on a real server: faults that hit one session do not affect the others."""

import asyncio
import os
import re
import resource
import shutil
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from benchmarks.abandoned import Weight, abandon, settled
from benchmarks.pupils import Register, answer, longest, pupil, server_of, wrong
from headlight.checkpoints import load_translator
from headlight.runs import status
from tests.forked import forked, serve_forked
from tests.small_run import new_run, worker
from tools import healthy
from tools.healthy import problem
from tools.streamlit_client import PageSession, open_session
from ui.state.process import SWEEP_SECONDS

pytestmark = pytest.mark.slow  # starts the server for real
ROOT = Path(__file__).resolve().parents[1]
MODEL = "en-fr"
TEXT = "A little girl is sitting on a bench."


@dataclass(frozen=True)
class School:
    """The server, and where its models and runs are."""

    url: str
    process: psutil.Process
    models: Path
    runs: Path


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    folder = tmp_path_factory.mktemp("school")
    models, runs = folder / "checkpoints", folder / "runs"
    for name in (MODEL, "reverse"):
        shutil.copytree(ROOT / "checkpoints" / name, models / name, ignore=shutil.ignore_patterns("history"))
    for name in ("deleted", "damaged"):
        shutil.copytree(models / "reverse", models / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(models))
        patch.setenv("HEADLIGHT_RUNS", str(runs))
        patch.setenv("HEADLIGHT_MODELS", str(folder / "models"))
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv("STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL", "1")
        with serve_forked(ROOT / "app.py", folder / "log.txt") as url:
            asyncio.run(_warm(url))
            yield School(url, server_of(url), models, runs)


async def _warm(url: str) -> None:
    assert await problem(url) is None


@asynccontextmanager
async def neighbour(school: School) -> AsyncIterator[PageSession]:
    """Open a session that must get right answers before and after the fault that is tested."""
    async with open_session(school.url, model=MODEL, text=TEXT, layer="1", head="1") as page:
        await page.run()
        before = answer(page, TEXT, 0, 0)
        yield page
        await page.choose(1, 2)
        text = f"A dog number {time.monotonic_ns() % 1000} runs on the beach."
        await page.type(text)
        after = answer(page, text, 1, 2)
        assert wrong([before, after], load_translator(ROOT / "checkpoints" / MODEL)) == []
        assert page.errors() == []


async def eventually(true: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.1)
    return True


def run(act: Coroutine[object, object, None]) -> None:
    asyncio.run(act)


def test_each_of_a_class_gets_its_own_answers(school: School) -> None:
    model, register = load_translator(ROOT / "checkpoints" / MODEL), Register()
    texts = (f"The {colour} dog {what}." for what in ("runs", "sleeps", "eats", "plays", "swims") * 20
             for colour in ("black", "white", "brown", "small", "large", "old"))  # fmt: skip

    async def held() -> None:
        until = time.monotonic() + 20

        def over() -> bool:
            enough = len(register.answers) > 12 and len({one.text for one in register.answers}) > 4
            return enough or time.monotonic() > until

        await asyncio.gather(*(pupil(school.url, n, texts, over, register, (0.05, 0.3)) for n in range(4)))

    run(held())
    assert register.errors == []
    assert len(register.answers) > 8 and len({one.text for one in register.answers}) > 3
    assert wrong(register.answers, model) == []
    # The comparison can fail: another's sentence, and another head, are wrong.
    first, other = register.answers[0], next(one for one in register.answers if one.text != register.answers[0].text)
    spoiled = [replace(first, weights=other.weights), replace(first, spoken=other.spoken), replace(first, head=2)]
    assert wrong(spoiled, model) == spoiled


def test_who_vanishes_in_the_middle_of_a_huge_answer_is_no_longer_worked_for(school: School) -> None:
    async def vanish() -> None:
        text = longest(load_translator(ROOT / "checkpoints" / MODEL), 1)
        async with neighbour(school) as page:
            async with open_session(school.url, "decoding", model=MODEL, text=text, strategy="beam", size="10") as huge:
                await huge.begin()
                assert await eventually(lambda: _works(school.process))
                await page.type("A man is standing in the street.")  # and is answered meanwhile
                assert "homme" in page.translation()
                assert _works(school.process), "it was over too soon to show anything"
                huge.vanish()
            assert await eventually(lambda: not _works(school.process)), "the server still works for nobody"

    run(vanish())


def _works(process: psutil.Process) -> bool:
    """Whether a process computes; one that waits takes a hundredth of a core."""
    return process.cpu_percent(0.4) > 5


def test_abandoned_sockets_leave_nothing_behind(school: School) -> None:
    """In the handshake, after it, after the first word, in mid-answer."""
    texts = (f"A dog with {number} black and white cats runs through the park." for number in range(1000))

    async def storm() -> None:
        async with neighbour(school):
            assert await abandon(school.url, 24, texts, 0.5) == []  # so that what is kept for good is there
            assert await eventually(lambda: _sockets(school.process) <= 1)
            await asyncio.sleep(1.2)
            before = Weight.of(school.process)
            assert await abandon(school.url, 60, texts, 1) == []
            assert Weight.of(school.process).files > before.files, "none of them was ever there"
            # Closed sessions are released by the first sweep after their time, a whole interval away at most.
            after = await settled(school.process, before, 1.1, 2 * SWEEP_SECONDS)
            assert after.files <= before.files and after.megabytes <= 1.1 * before.megabytes

    run(storm())


def _sockets(process: psutil.Process) -> int:
    return sum(one.status == psutil.CONN_ESTABLISHED for one in process.net_connections("tcp"))


def test_a_model_that_is_deleted_or_damaged_under_it(school: School) -> None:
    async def lose() -> None:
        async with (
            neighbour(school),
            open_session(school.url, model="deleted", text="abc") as first,
            open_session(school.url, model="damaged", text="abc") as second,
        ):
            await first.run()
            await second.run()
            assert "cba" in re.sub(r"\W", "", _translation(first)) and "cba" in re.sub(r"\W", "", _translation(second))
            shutil.rmtree(school.models / "deleted")
            weights = school.models / "damaged" / "model.safetensors"
            with open(weights, "r+b") as file:  # in place, as a copy that is under way would
                file.truncate(weights.stat().st_size // 2)
            await first.type("abcd")
            assert any("There is no model" in text for text in first.texts())
            await second.type("abcd")
            assert not second.translation() and second.errors()
            shutil.copy(school.models / "reverse" / "model.safetensors", weights)
            await second.run()  # as a reader who reloads
            assert second.translation() and not second.errors()
            files = filter(Path.is_file, (school.models / MODEL).iterdir())
            for file in sorted(files, key=lambda file: file.name != "model.safetensors"):
                shutil.copy(file, school.models / "damaged")  # another model in its place, its tokenizer at the end
                await second.run()
            await second.type(TEXT)
            assert _translation(second) == load_translator(school.models / MODEL).translate(TEXT).text

    run(lose())


def _translation(page: PageSession) -> str:
    match = re.search(r'aria-label="[^:]*: (.*)\. Sequence log-probability', page.translation())
    return match[1] if match else ""


def test_nothing_can_be_written(school: School) -> None:
    """No file may grow, as on a full disk; reading and choosing need no file."""

    async def write() -> None:
        async with neighbour(school) as page:
            before = school.process.rlimit(psutil.RLIMIT_FSIZE)
            school.process.rlimit(psutil.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            try:
                await page.choose(0, 3)
                await page.type("Two dogs play in the snow.")
                assert page.translation() and not page.errors()
            finally:
                school.process.rlimit(psutil.RLIMIT_FSIZE, before)

    run(write())


def test_a_worker_that_is_killed(school: School) -> None:
    async def lose() -> None:
        school.runs.mkdir(exist_ok=True)
        training = new_run(school.runs, "killed", steps=1_000_000, checkpoint_every=1_000_000)
        process = worker(training)
        try:
            assert await eventually(lambda: status(training.path).step > 0, 180)
            async with neighbour(school), open_session(school.url, "training", run="killed") as page:
                await page.run()
                assert any("Pause" in label for label in _buttons(page))
                process.kill()
                assert await eventually(lambda: status(training.path).state == "crashed")
                await page.run()
                assert not any("Pause" in label for label in _buttons(page))
                assert not [text for text in page.errors() if "went wrong" in text]
        finally:
            process.kill()

    run(lose())


def _buttons(page: PageSession) -> list[str]:
    elements = (delta.new_element for delta in page.elements.values())
    return [element.button.label for element in elements if element.WhichOneof("type") == "button"]


def test_a_model_in_memory_does_not_depend_on_its_file(tmp_path: Path) -> None:
    """A file that is cut off under a mapping of it would end the process."""
    folder = shutil.copytree(ROOT / "checkpoints" / "reverse", tmp_path / "model")
    process = forked(translate_from_a_cut_file, folder, tmp_path / "written.txt")
    process.join()
    assert process.exitcode == 0
    assert re.sub(r"\W", "", (tmp_path / "written.txt").read_text()) == "cba"


def translate_from_a_cut_file(folder: Path, out: Path) -> None:
    model = load_translator(folder)
    os.truncate(folder / "model.safetensors", 100)
    out.write_text(model.translate("abc").text)


def test_the_health_check_tells_a_working_app_from_one_without_its_model(
    school: School, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def watched(url: str, **query: str) -> AbstractAsyncContextManager[PageSession]:
        asked.append(query["text"])
        return open_session(url, **query)

    monkeypatch.setattr(healthy, "open_session", watched)
    for _ in range(2):
        assert asyncio.run(problem(school.url)) is None
    assert asked[0] != asked[1], "the second answer was kept, and says nothing of the model"
    away = school.models.rename(school.models.with_name("away"))
    try:
        assert "no model" in (asyncio.run(problem(school.url)) or "")
    finally:
        away.rename(school.models)
    assert asyncio.run(problem("http://127.0.0.1:9", 5)) is not None
