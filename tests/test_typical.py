"""The command that writes into a card how sure its model is of what it was trained on; and the cards."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headlight.analysis.typical import CARD_KEY, find_threshold, threshold_of, unlike, unlike_note, words_of
from headlight.checkpoints import load_translator, read_words, save_words
from headlight.cli.verbs import main as command_line
from headlight.corpora.corpora import GoldCorpus
from headlight.corpora.grammars import GRAMMARS
from headlight.importers.examples import examples
from tests.small import TEXTS
from tools import noted, typical
from transformer import Translator
from transformer.files import read_json, write_json

SHIPPED = Path(__file__).resolve().parents[1] / "checkpoints"
STRANGE = Path(__file__).parent / "strange"
WORDS = " ".join(TEXTS).split()
CAPTIONS = {
    "en-fr": ["A man in a blue shirt is standing on a ladder.", "Two dogs are playing in the grass."],
    "de-en": ["Ein Mann in einem blauen Hemd steht auf einer Leiter.", "Zwei Hunde spielen im Gras."],
}
# A row of numbers, which a translator that learned to copy numbers need not be unsure of.
NUMBERS = "83 9942 17 60045 2 7781 330"
NONSENSE = [
    "asdf jkl qwer uiop zxcv asdf", "dfgh kjsdf lskdjf wqpeoi xmcnv", "Сегодня очень хорошая погода.",
    "今天天气很好，我们去公园吧。", "def main(argv=None): return sys.exit(argv[1:])", NUMBERS,
]  # fmt: skip
# de-en copies most of these words, and writes the others as surely as it copies a name.
UNNOTED = {"de-en": ["asdf jkl qwer uiop zxcv asdf", "dfgh kjsdf lskdjf wqpeoi xmcnv"]}


def pairs(path: Path, count: int) -> list[str]:
    drawn = random.Random(1)
    sentences = sorted({" ".join(drawn.choices(WORDS, k=drawn.randint(2, 9))) for _ in range(2 * count)})[:count]
    path.write_text("".join(f"{sentence}\tx\n" for sentence in sentences), encoding="utf-8")
    return sentences


@pytest.mark.slow
def test_the_command_writes_the_threshold_into_the_card(
    small_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headlight.analysis.typical.MIN_HELD_OUT_SENTENCES", 20)
    folder = tmp_path / "corpus"
    folder.mkdir()
    trained = pairs(folder / "en-fr.train.tsv", 30)
    sentences = pairs(folder / "en-fr.validation.tsv", 20)
    before = read_json(small_copy / "card.json")
    with open(folder / "en-fr.validation.tsv", "a") as file:  # nor a source twice, nor one that the model can't read
        file.write(f"{sentences[0]}\ty\n{'two ' * 40}\tx\n")
    assert typical.main([str(small_copy), "--data", f"{folder}:en-fr"]) == 0
    model = load_translator(small_copy)
    wanted = find_threshold({"": [model.translate(sentence).log_prob_per_token for sentence in sentences]})
    card = read_json(small_copy / "card.json")
    assert card[CARD_KEY].pop("log_prob_per_token") == pytest.approx(wanted, abs=1e-5)
    (of,) = card[CARD_KEY].pop("sentences").values()
    assert of == 20 and "validation" in card[CARD_KEY].pop("on")
    assert card == before | {
        CARD_KEY: {
            "share_below": 0.01,
            "unread_log_prob_per_token": 0.0,  # every word of the validation part stands in the training part
            "command": f"python -m tools.typical {small_copy} --data {folder}:en-fr",
        }
    }
    assert "from 20 sentences" in capsys.readouterr().out
    read = {word for text in trained for word in words_of(text)}
    assert read_words(small_copy) == read == set(words_of(" ".join(TEXTS)))


def test_what_cannot_be_measured_is_reported_and_the_card_stays(
    small_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (small_copy / "card.json").read_text(encoding="utf-8")
    pairs(tmp_path / "few.tsv", 50)
    for corpus, why in ((tmp_path / "few.tsv", "at least 200 are needed"), (tmp_path / "none.tsv", "none.tsv")):
        assert typical.main([str(small_copy), "--data", str(corpus)]) == 1
        assert why in capsys.readouterr().err
    assert (small_copy / "card.json").read_text(encoding="utf-8") == before


def test_the_command_line_says_it_of_a_sentence_that_was_typed(
    small_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sure = load_translator(small_copy).translate(TEXTS[0]).log_prob_per_token
    for threshold, warning in ((sure + 0.01, f"{unlike_note()}\n"), (sure - 0.01, "")):
        write_json(small_copy / "card.json", {CARD_KEY: {"log_prob_per_token": threshold}})
        assert command_line(["translate", str(small_copy), TEXTS[0]]) == 0
        assert capsys.readouterr().err == warning


def test_the_command_line_names_a_word_that_was_never_read(
    small_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = words_of(TEXTS[0])
    write_json(small_copy / "card.json", {CARD_KEY: {"log_prob_per_token": -99.0, "unread_log_prob_per_token": 0.0}})
    save_words(small_copy, dict.fromkeys(set(others) - {first}, 1))
    assert command_line(["translate", str(small_copy), TEXTS[0]]) == 0
    assert capsys.readouterr().err == f'The model has never read "{first}"; it will guess.\n'


def shipped(name: str) -> Translator:
    model = load_translator(SHIPPED / name)
    if threshold_of(model.card) is None:
        assert name.startswith("reverse"), f"Run `python -m tools.typical checkpoints/{name} --data ...`."
        pytest.skip("Any letters are like those that it was trained on.")
    return model


def far(model: Translator, texts: list[str]) -> list[str]:
    written = model.translate_batch(texts)
    return [
        text
        for text, translation in zip(texts, written, strict=True)
        if unlike(model.card, translation.log_prob_per_token)
    ]


# A tutorial's own sentence, which a model of a grammar cannot translate: the notice is what the example shows.
OUT_OF_DOMAIN_EXAMPLES = {"english-hindi": ["Climate change is one of the biggest challenges facing humanity today."]}


@pytest.mark.parametrize("name", sorted(path.parent.name for path in SHIPPED.glob("*/card.json")))
def test_only_the_example_that_is_out_of_domain_on_purpose_gets_a_notice(name: str) -> None:
    model = shipped(name)
    assert far(model, [example.text for example in examples(model.card)]) == OUT_OF_DOMAIN_EXAMPLES.get(name, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTIONS)
def test_a_translator_is_sure_of_captions_and_not_of_nonsense(name: str) -> None:
    model = shipped(name)
    assert far(model, CAPTIONS[name]) == []
    read = read_words(SHIPPED / name)
    unnoted = {text for text in NONSENSE if noted.shares(model, read, {"": [text]})[""][:2] == (0, 0)}
    assert unnoted <= {NUMBERS, *UNNOTED.get(name, ())}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(GRAMMARS) & {path.name for path in SHIPPED.iterdir()}))
def test_a_model_of_a_grammar_is_sure_of_its_sentences_and_not_of_others(name: str) -> None:
    model = shipped(name)
    its = [pair.source for pair, _ in zip(GoldCorpus(GRAMMARS[name], "test"), range(100), strict=False)]
    assert len(far(model, its)) <= 5  # of 100; 1 is expected
    others = [*NONSENSE, "A man in a blue shirt is standing on a ladder.", "What time is it?"]
    assert len(far(model, others)) >= len(others) - 1
    news = (STRANGE / "news.en.txt").read_text(encoding="utf-8").splitlines()
    assert "Climate change is one of the biggest challenges facing humanity today." in news
    assert far(model, news) == news


@pytest.mark.slow
def test_what_is_said_of_is_counted(small_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for split in ("train", "test"):
        sentences = pairs(folder / f"en-fr.{split}.tsv", 20)
    (tmp_path / "strange.txt").write_text(f"{sentences[0]}\n\n{sentences[1]}\n", encoding="utf-8")
    model = load_translator(small_copy)
    sure = {text: model.translate(text).log_prob_per_token for text in sentences}
    write_json(small_copy / "card.json", {CARD_KEY: {"log_prob_per_token": sure[sentences[1]] + 1e-4}})
    below = sum(value < sure[sentences[1]] + 1e-4 for value in sure.values())
    assert noted.main([str(small_copy), "--data", f"{folder}:en-fr", "--strange", str(tmp_path / "strange.txt")]) == 0
    tested, _, strange = capsys.readouterr().out.splitlines()
    assert f"0 +{below:>5} of 20 " in tested
    assert f"+{1 + (sure[sentences[0]] < sure[sentences[1]] + 1e-4):>5} of 2 " in strange
    assert noted.main([str(small_copy), "--data", str(tmp_path / "none.tsv")]) == 1
