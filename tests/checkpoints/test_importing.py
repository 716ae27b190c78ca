"""The import itself: whole or not at all, one tensor at a time, and our own folders as they are."""

import os
import subprocess
import sys
import threading
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from headlight import checkpoints
from headlight.checkpoints import load_tokenizer, load_translator
from headlight.importers import importing
from headlight.importers.bundle import safetensors_bundle, zip_folder
from headlight.importers.examples import examples
from headlight.importers.health import check_health
from headlight.importers.importing import Unready, examine, import_model, write_tensors
from headlight.importers.questions import flag, possible_answers
from tests.checkpoints.tutorials import answers, file
from tests.small import small_checkpoint
from transformer import Translator
from transformer.checkpoint.weights import Refused
from transformer.files import MAX_JSON_BYTES
from transformer.tokenizers import Tokenizer

NAME = "pytorch-transformer"
SRC, TGT = [[5, 6, 7, 3]], [[2, 8, 9]]


@pytest.mark.parametrize("open_one", ["heads", "eos_id"])
def test_an_open_question_names_its_flag_and_choices(tmp_path: Path, open_one: str) -> None:
    with pytest.raises(Unready) as caught:
        import_model(file(NAME), tmp_path / "model", answers(NAME, **{open_one: None}))
    (question,) = [question for question in caught.value.examination.questions if question.required]
    assert question.field == open_one
    message = str(caught.value)
    assert flag(question) in message and possible_answers(question) in message and "\n" not in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"heads": 5}, "5"),
        ({"heads": 0}, "0"),
        ({"heads": -4}, "-4"),
        ({"pad_id": 53}, "0 to 52"),  # the source has 53 ids
        ({"sos_id": 61}, "0 to 60"),  # the target 61
        ({"eos_id": -1}, "-1"),
        ({"source_vocab": Path("nowhere.json")}, "nowhere.json"),
    ],
)
def test_a_wrong_answer_is_refused_and_nothing_is_written(tmp_path: Path, wrong: dict[str, Any], what: str) -> None:
    with pytest.raises(Refused, match=what) as caught:
        import_model(file(NAME), tmp_path / "model", answers(NAME, **wrong))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Refused, match=what):
        examine(file(NAME), answers(NAME, **wrong))


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.txt").write_text("mine")
    with pytest.raises(Refused, match="exists already"):
        import_model(file(NAME), tmp_path / "model", answers(NAME))
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("failing", ["write_tensors", "save_tokenizers", "write_json"])
def test_a_failed_import_leaves_nothing(tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(importing, failing, fail)
    with pytest.raises(Refused, match="disk full"):
        import_model(file(NAME), tmp_path / "model", answers(NAME))
    assert list(tmp_path.iterdir()) == []


def test_progress_rises_to_the_whole(tmp_path: Path) -> None:
    shares: list[float] = []
    import_model(file(NAME), tmp_path / "model", answers(NAME), lambda share, what: shares.append(share))
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 10


def test_the_card_says_where_it_comes_from_and_its_languages(tmp_path: Path) -> None:
    import_model(file(NAME), tmp_path / "model", answers(NAME, source_language="English", target_language="Italian"))
    card = checkpoints.load(tmp_path / "model").card
    assert (card["source"], card["target"], card["title"]) == ("English", "Italian", "English to Italian")
    assert "Coding a transformer from scratch on PyTorch" in card["origin"]


@pytest.mark.parametrize("language", ["English", ""])
def test_what_is_imported_has_an_example_that_it_can_read(tmp_path: Path, language: str) -> None:
    import_model(file(NAME), tmp_path / "model", answers(NAME, source_language=language))
    model = load_translator(tmp_path / "model")
    (first, *_) = examples(model.card)
    assert model.checkpoint.source_tokenizer.unk_id not in model.encode(first.text)


def test_a_stream_of_tensors_is_a_safetensors_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    tensors = {"a": torch.randn(3, 5), "b.c": torch.randn(2, 3, 4).mT, "one": torch.randn(()), "half": torch.randn(7)}
    given = {**tensors, "half": tensors["half"].half()}
    write_tensors(tmp_path / "x.safetensors", {n: tuple(t.shape) for n, t in tensors.items()}, given.__getitem__)
    loaded = load_file(tmp_path / "x.safetensors")
    assert loaded.keys() == tensors.keys() and all(t.dtype == torch.float32 for t in loaded.values())
    assert all(torch.equal(loaded[name], given[name].float()) for name in tensors)
    with safe_open(tmp_path / "x.safetensors", "pt") as opened:
        assert set(opened.keys()) == set(tensors)


def test_one_tensor_is_held_at_a_time(tmp_path: Path) -> None:
    earlier: list[weakref.ref[torch.Tensor]] = []

    def tensor(name: str) -> torch.Tensor:
        assert all(made() is None for made in earlier)
        made = torch.zeros(4)
        earlier.append(weakref.ref(made))
        return made

    write_tensors(tmp_path / "x.safetensors", {name: (4,) for name in "abcd"}, tensor)
    assert len(earlier) == 4


@pytest.mark.parametrize(
    ("as_what", "changes"),
    [("folder", {}), ("zip", {"tied": "all"}), ("safetensors", {"positions": "learned", "embedding_norm": True})],
)
def test_our_own_come_back_as_they_were(tmp_path: Path, as_what: str, changes: dict[str, Any]) -> None:
    checkpoint, folder = small_checkpoint(**changes), tmp_path / "model"
    checkpoint.card["examples"] = ["two dogs"]
    checkpoints.save(checkpoint, folder)
    source = {"folder": folder, "zip": tmp_path / "x.zip", "safetensors": tmp_path / "x.safetensors"}[as_what]
    if as_what != "folder":
        {"zip": zip_folder, "safetensors": safetensors_bundle}[as_what](folder, source)
    examination = import_model(source, tmp_path / "again")
    assert (examination.form, examination.questions, examination.warnings) == ("Headlight", (), ())
    again = checkpoints.load(tmp_path / "again")
    assert again.model.config == checkpoint.model.config and again.card == checkpoint.card
    assert torch.equal(Translator(checkpoint).log_probs(SRC, TGT), Translator(again).log_probs(SRC, TGT))
    for name in ("tokenizer.json", "config.json", "card.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_vectors_in_half_precision_become_single_and_matrices_keep_their_type(tmp_path: Path) -> None:
    checkpoints.save(small_checkpoint(), tmp_path / "half", bits=16)
    import_model(tmp_path / "half", tmp_path / "model")
    half, single = (load_file(tmp_path / name / "model.safetensors") for name in ("half", "model"))
    for name, numbers in single.items():
        assert numbers.dtype == (torch.float16 if numbers.dim() > 1 else torch.float32)
        assert torch.equal(half[name].float(), numbers.float())


def test_our_own_with_a_tensor_missing_is_described(tmp_path: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoints.save(checkpoint, tmp_path / "model")
    config = replace(checkpoint.model.config, encoder=replace(checkpoint.model.config.encoder, n_layers=3))
    checkpoints.native.write_json(tmp_path / "model" / "config.json", config.to_dict())
    diagnosis = examine(tmp_path / "model").diagnosis
    assert diagnosis is not None and diagnosis.nearest == "Headlight" and not diagnosis.unexpected
    assert diagnosis.missing and all(name.startswith("encoder.layers.2.") for name in diagnosis.missing)


def test_two_who_import_to_one_name_make_one_whole_model(tmp_path: Path) -> None:
    """Each import writes to its own folder, and the first to finish gets the name."""
    together, ends = threading.Barrier(2), []

    def one() -> None:
        waited = []

        def progress(share: float, what: str) -> None:
            if not waited:
                waited.append(together.wait(30))

        try:
            import_model(file(NAME), tmp_path / "model", answers(NAME), progress)
            ends.append("made")
        except Refused as refused:
            ends.append(str(refused))

    people = [threading.Thread(target=one) for _ in range(2)]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
    assert sorted("exists already" in end for end in ends) == [False, True]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert load_translator(tmp_path / "model").log_probs(SRC, TGT).isfinite().all()


def test_what_is_wrong_with_the_weights_is_reported_at_the_import(tmp_path: Path) -> None:
    checkpoint = small_checkpoint()
    with torch.no_grad():
        checkpoint.model.encoder.layers[0].feed_forward.inner.weight[0, 0] = torch.nan
        checkpoint.model.decoder.norm.weight.zero_()
    checkpoints.save(checkpoint, tmp_path / "ill")
    warnings = import_model(tmp_path / "ill", tmp_path / "model").warnings
    assert warnings == check_health(checkpoint) == check_health(checkpoints.load(tmp_path / "model"))
    assert len(warnings) == 2 and "NaN at 1 of" in warnings[0] and "decoder.norm" in warnings[1]


def test_what_a_killed_import_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left, alive = (tmp_path / f".model.{pid}-7.part" for pid in (int(ended.stdout), os.getpid()))
    for folder in (left, alive):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"half")
    import_model(file(NAME), tmp_path / "model", answers(NAME))
    assert not left.exists() and alive.exists()


def test_what_cannot_be_opened_afterwards_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer that is larger than what is read: the import reported success, and nothing opened the folder."""
    save = Tokenizer.save

    def save_padded(tokenizer: Tokenizer, path: Path) -> None:
        save(tokenizer, path)
        with path.open("a") as file:
            file.write(" " * MAX_JSON_BYTES)

    monkeypatch.setattr(Tokenizer, "save", save_padded)
    with pytest.raises(Refused, match="The imported model cannot be used: .*larger than 50,000,000 bytes"):
        import_model(file(NAME), tmp_path / "model", answers(NAME))
    assert list(tmp_path.iterdir()) == []


def test_a_large_vocabulary_is_written_without_line_breaks(tmp_path: Path) -> None:
    Tokenizer.of_ids(100_001, 0, 1, 2).save(tmp_path / "large.json")
    Tokenizer.of_ids(100, 0, 1, 2).save(tmp_path / "small.json")
    assert (tmp_path / "large.json").read_text().count("\n") <= 1 < (tmp_path / "small.json").read_text().count("\n")
    assert load_tokenizer(tmp_path / "large.json", 0, 1, 2).vocab_size == 100_001
