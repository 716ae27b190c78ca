"""Similar tokens: the vectors by hand, exact search, and an index that is refused where it is stale or broken."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from headlight import checkpoints, folders
from headlight.analysis.atlas.reading import units
from headlight.analysis.similar import IndexRefused, TokenIndex, TokenSite, building, index, open_index, token_index
from headlight.analysis.similar.building import links, stored_sites
from headlight.analysis.similar.index_files import COLUMNS, FACTS_FILE, SENTENCES_FILE
from headlight.analysis.similar.search import nearest, unit
from headlight.analysis.similar.token_index import MarkedSentence, mark_word
from headlight.analysis.similar.token_vectors import ROW_REACH, ROW_SIZE, relative_rows
from headlight.analysis.stream import stream
from headlight.cli.verbs import main
from headlight.corpora.corpora import open_split
from headlight.corpora.truth import known_pairs
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from transformer.checkpoint import Checkpoint
from transformer.taps import Ablate, Inputs, Site

PAIRS = [
    (TEXTS[0], TEXTS[1]),
    (TEXTS[1], "a girl is running ."),
    ("two dogs are sitting on a bench .", "two dogs ."),
    ("a little girl is running in the snow .", "a little girl ."),
]
ALL_SITES = ("encoder", "decoder", "encoder.output", "decoder.output", "cross.output", "encoder.row", "cross.row")


@pytest.fixture
def made(small_copy: Path, tmp_path: Path) -> TokenIndex:
    return index(small_copy, PAIRS, tmp_path / "index", corpus="four pairs", sites=ALL_SITES)


# ---- search --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alike", [0.0, 0.95, 0.9999])
def test_the_search_is_that_of_brute_force_in_double_precision(alike: float) -> None:
    """Vectors that are nearly equal are included: their products in float32 would not tell them apart."""
    rng = np.random.default_rng(0)
    vectors = alike + (1 - alike) * rng.standard_normal((5000, 24))
    vectors[7] = 0
    vectors[90] = vectors[40]
    stored = unit(torch.from_numpy(vectors).float()).half()
    query, excluded = alike + (1 - alike) * rng.standard_normal(24), rng.random(5000) < 0.01
    exact = stored.double().numpy()
    with np.errstate(invalid="ignore"):
        cosines = exact @ query / np.linalg.norm(exact, axis=1) / np.linalg.norm(query)
    cosines[excluded | np.isnan(cosines)] = -2
    for count in (1, 20, 6000):
        found = nearest(stored, query, count, excluded)
        expected = np.argsort(-cosines, kind="stable")[: min(count, int((cosines > -2).sum()))]
        assert np.allclose(found.cosines, cosines[expected], atol=1e-12, rtol=0)
        assert np.array_equal(found.rows, expected) or np.allclose(cosines[found.rows], cosines[expected], atol=1e-12)


def test_what_has_no_direction_is_refused_and_what_is_no_number_too() -> None:
    vectors = unit(torch.randn(5, 4)).half()
    with pytest.raises(ValueError, match="no direction"):
        nearest(vectors, np.zeros(4), 2)
    vectors[3] = float("nan")
    with pytest.raises(ValueError, match="not numbers"):
        nearest(vectors, np.ones(4), 2)


# ---- vectors ---------------------------------------------------------------------------------------------------------


def test_rows_are_relative_to_their_token() -> None:
    """By hand: of 14 keys the first and the last are special, and token 2 looks at five keys."""
    pattern = torch.zeros(1, 1, 1, 14)
    pattern[0, 0, 0, [0, 1, 2, 4, 11]] = torch.tensor([0.1, 0.2, 0.3, 0.15, 0.25])
    ordinary = torch.tensor([[False] + [True] * 12 + [False]])
    row = relative_rows(pattern, torch.tensor([[2]]), ordinary)[0, 0, 0]
    expected = torch.zeros(ROW_SIZE)
    zero = ROW_REACH + 1
    expected[[zero - 1, zero, zero + 2]] = torch.tensor([0.2, 0.3, 0.15])
    expected[2 * ROW_REACH + 2] = 0.25  # nine behind
    expected[-3], expected[-2] = 0.1, 0.2  # on special tokens, and once more on the first
    assert torch.allclose(row, expected)


def _by_hand(checkpoint: Checkpoint, source: list[int], target: list[int], site: TokenSite) -> np.ndarray:
    """The vectors of a sentence from `stream` and a tap of the test's own, at every token read: [N, ...]."""
    seen: dict[tuple[str, str, int], np.ndarray] = {}

    def tap(at: Site, pattern: torch.Tensor, inputs: Inputs) -> torch.Tensor:
        kind = "cross" if at.kind == "cross" else at.stack
        seen["pattern", kind, at.layer] = pattern[0].numpy()
        seen["values", kind, at.layer] = inputs.v[0].numpy()
        return pattern

    passed = stream(checkpoint.model, source, target, tap)
    if site.form == "state":
        return (passed.encoder if site.kind == "encoder" else passed.decoder).states[site.layer].numpy()
    pattern = seen["pattern", site.kind, site.layer]
    if site.form == "output":
        return np.einsum("hqk,hkd->qhd", pattern, seen["values", site.kind, site.layer])
    heads, queries, keys = pattern.shape
    ids = target[:-1] if site.kind == "decoder" else source
    special = [id in checkpoint.source_tokenizer.special_ids for id in ids]
    plain = [key for key in range(keys) if not special[key]]
    layers = checkpoint.model.config.decoder.n_layers
    mean = np.mean([seen["pattern", "cross", layer].mean(0) for layer in range(layers)], axis=0)
    rows = np.zeros((queries, heads, ROW_SIZE))
    for q in range(queries):
        around = max(plain, key=lambda key: mean[q, key]) if site.kind == "cross" else q
        for k in range(keys):
            at = ROW_SIZE - 3 if special[k] else ROW_REACH + 1 + max(-ROW_REACH - 1, min(ROW_REACH + 1, k - around))
            rows[q, :, at] += pattern[:, q, k]
        rows[q, :, -2], rows[q, :, -1] = pattern[:, q, plain[0]], pattern[:, q, plain[-1]]
    return rows


@pytest.mark.parametrize("make", [small_checkpoint, small_t5_checkpoint, lambda: small_checkpoint(norm="post")])
def test_stored_vectors_are_those_of_each_sentence_by_itself(make: Callable[[], Checkpoint], tmp_path: Path) -> None:
    """This holds for padded sentences too, and for vectors that are stored or computed later."""
    checkpoint = make()
    checkpoints.save(checkpoint, tmp_path / "model")
    stored = index(tmp_path / "model", PAIRS, tmp_path / "stored", sites=(*ALL_SITES, "decoder.row"))
    later = index(tmp_path / "model", PAIRS, tmp_path / "later", sites=["encoder.0"])
    for site in stored_sites(checkpoint.model, (*ALL_SITES, "decoder.row")):
        expected = []
        for sentence in range(stored.sentences):
            source, target = (stored._ids(sentence, side) for side in ("source", "target"))
            of_tokens = _by_hand(checkpoint, source, target, site)
            expected.append(of_tokens[:-1])  # without the source's [EOS], or the step that writes it
        vectors = np.concatenate(expected)
        vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
        assert np.allclose(stored.vectors(site).float().numpy(), vectors, atol=1e-3), site
        assert np.allclose(later.vectors(site).float().numpy(), vectors, atol=1e-3), site


def test_sites_are_written_and_read_the_same() -> None:
    for text in ("encoder.0", "decoder.3", "encoder.2.output", "cross.1.row.12"):
        assert str(TokenSite.parse(text)) == text
    assert TokenSite.parse("encoder.2.row.1") == TokenSite("encoder", 1, "row", 0)
    for wrong in ("encoder", "cross.1", "encoder.0.row", "encoder.1.row.0", "encoder.x", "../../etc"):
        with pytest.raises(ValueError, match="write encoder.3"):
            TokenSite.parse(wrong)


# ---- links and sentences -------------------------------------------------------------------------------------------


def test_links_join_tokens_to_words_and_leave_special_tokens_out() -> None:
    """Source a bb [EOS], where bb has two tokens; target [SOS] x yy [EOS]: row t writes token t + 1."""
    weights = np.array([[0.1, 0.2, 0.2, 0.5], [0.6, 0.1, 0.1, 0.2], [0.5, 0.1, 0.2, 0.2], [0.0, 0.0, 0.1, 0.9]])
    words = [[0], [1, 2], [3]], [[0], [1], [2, 3], [4]]
    found = links(weights, *words, {"source": np.array([0, 1, 2]), "target": np.array([1, 2, 3])})
    assert found["source"].tolist() == [2, 1, 1] and found["target"].tolist() == [1, 0, 0]


def test_links_are_mostly_those_of_the_grammar(tmp_path: Path) -> None:
    """Of the source words that the grammar links, at least 85 % are linked to a word that it links them to."""
    pairs = list(islice(known_pairs(open_split("english-french", "train")), 40))
    made = index("english-french", [(pair.source, pair.target) for pair in pairs], tmp_path / "index", sites=["none"])
    truths = {pair.source: pair.truth for pair in pairs}
    right, tokenizer = [], made.model.checkpoint.source_tokenizer  # which both sides share
    for row, place in enumerate(made._columns["source_tokens"].tolist()):
        sentence = int(np.searchsorted(made._columns["source_starts"], place, "right")) - 1
        truth = truths[made._texts(sentence)["source"]]
        assert truth is not None
        source, target = (
            units(tokenizer, made._ids(sentence, "source"), truth.source),
            units(tokenizer, made._ids(sentence, "target"), truth.target),
        )
        assert source is not None and target is not None
        word = source[place - int(made._columns["source_starts"][sentence])]
        linked = {target_word for source_word, target_word in truth.links if source_word == word}
        if linked:
            right.append(target[int(made._columns["source_links"][row])] in linked)
    assert len(right) > 200 and np.mean(right) > 0.85, np.mean(right)


def test_a_sentence_is_marked_at_the_right_one_of_equal_words() -> None:
    words = ["The", "dog", "saw", "the", "dog", "."]
    assert mark_word("The dog saw the dog.", words, 4) == MarkedSentence("The dog saw the ", "dog", ".")
    assert mark_word("The dog saw the dog.", words, 0) == MarkedSentence("", "The", " dog saw the dog.")
    assert mark_word("the  X dog", ["the", "", "dog"], 2) == MarkedSentence("the ", "dog", "")  # X is unknown
    assert mark_word("", ["a", "b"], 1) == MarkedSentence("a ", "b", "")


# ---- the index -----------------------------------------------------------------------------------------------------


def test_the_same_word_in_the_same_place_is_nearest_and_its_own_sentence_is_left_out(made: TokenIndex) -> None:
    """Embeddings of the same word at the same position are the same; in another place only the position differs."""
    assert made.sentences == len(PAIRS) and made.corpus == "four pairs"
    assert made.tokens == sum(len(source.split()) for source, _ in PAIRS)
    best, *others = made.like("two dogs are running on a bench .", 1, "encoder.0", count=40)
    assert best.cosine == pytest.approx(1, abs=1e-3) and best.token == "▁dogs"
    assert {best.source, others[0].source} == {TEXTS[1], PAIRS[2][0]} and others[0].cosine == best.cosine
    assert others[1].cosine < 0.999
    assert best.marked == MarkedSentence("two ", "dogs", best.source.removeprefix("two dogs"))
    assert len(others) + 1 == made.tokens
    assert TEXTS[1] not in {token.source for token in made.like(TEXTS[1], 1, "encoder.0", count=40)}


def test_a_token_of_the_translation_is_looked_up_where_it_is_written(made: TokenIndex) -> None:
    source, target = made.model.encode_pair(TEXTS[2], "a girl is sitting .")
    for text in ("decoder.3", "decoder.2.output.1", "cross.1.row.2"):
        site = TokenSite.parse(text)
        found = made.nearest(source, target, 2, site, 5)
        assert {token.marked.word for token in found} <= {word for _, text in PAIRS for word in text.split()}
        (own,) = made.nearest(source, target, 2, site, 1)
        assert own.target.split().count(own.marked.word) and own.translated in own.source.split()
    vectors = made.vectors(TokenSite("decoder", 3))
    place = [label for sentence in range(4) for label in made._ids(sentence, "target")[1:-1]]
    assert len(vectors) == len(place)


def test_heads_that_are_off_change_the_vector_that_is_looked_up(made: TokenIndex) -> None:
    source, target = made.model.encode_pair(TEXTS[2], TEXTS[1])
    site = TokenSite("encoder", 0, "output", 1)
    assert made.nearest(source, target, 1, site)
    with pytest.raises(ValueError, match="no direction"):
        made.nearest(source, target, 1, site, tap=Ablate(Site("encoder", 0, "self"), 1))


def test_what_the_model_lacks_is_refused_in_a_sentence(made: TokenIndex) -> None:
    for site, message in (
        ("encoder.3", "from 0 to 2"), ("decoder.4.output.1", "from 1 to 3"), ("cross.1.row.3", "from 1 to 2"),
        ("cross.1.row", "name one, as in cross.1.row.1"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            made.like(TEXTS[0], 0, site)
    with pytest.raises(ValueError, match="There is no token 99"):
        made.like(TEXTS[0], 99, "encoder.0")


def test_only_a_small_index_computes_what_it_does_not_hold(
    small_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index(small_copy, PAIRS, tmp_path / "none", sites=["none"]).like(TEXTS[2], 0, "encoder.2")
    small = index(small_copy, PAIRS, tmp_path / "index", sites=["encoder.2"])
    assert small.sites == ["encoder.2"] and small.like(TEXTS[2], 0, "encoder.1")
    monkeypatch.setattr(token_index, "MAX_COMPUTED_PRODUCTS", 1000)
    with pytest.raises(ValueError, match="--sites encoder.1.output"):
        small.like(TEXTS[2], 0, "encoder.1.output.1")
    assert small.like(TEXTS[2], 0, "encoder.2")


def test_equal_and_unreadable_pairs_are_left_out_and_nothing_is_left_of_a_failure(
    small_copy: Path, tmp_path: Path
) -> None:
    long = " ".join(["snow"] * 100)
    few = index(small_copy, [PAIRS[0], PAIRS[0], (long, "snow"), ("", "snow"), PAIRS[1]], tmp_path / "few")
    assert few.sentences == 2
    cut = index(small_copy, PAIRS, tmp_path / "cut", tokens=20)
    assert (cut.sentences, cut.tokens) == (2, 17)
    with pytest.raises(ValueError, match="exists already"):
        index(small_copy, PAIRS, tmp_path / "cut")
    with pytest.raises(ValueError, match="no pair that this model reads"):
        index(small_copy, [(long, "snow")], tmp_path / "none")

    def breaking() -> Iterator[tuple[str, str]]:
        yield PAIRS[0]
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        index(small_copy, breaking(), tmp_path / "none")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut", "few", "small"]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_corpus(
    small_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headlight.analysis.atlas.reading.CHUNK_PAIRS", 25)
    words = [word for text in TEXTS[:2] for word in text.split()]

    def pairs(count: int) -> Iterator[tuple[str, str]]:
        for number in range(count):
            digits = [words[number // len(words) ** place % len(words)] for place in range(4)]
            yield " ".join(digits * 4), "a girl ."

    peaks = []
    for count in (60, 300):
        checkpoint = checkpoints.load(small_copy)
        folder = tmp_path / str(count)
        folder.mkdir()
        writer = building._Writer(folder, checkpoint, stored_sites(checkpoint.model, ["encoder"]))
        tracemalloc.start()
        writer.write(pairs(count), 1_000_000, lambda read: None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 200_000, peaks  # its vectors alone are 0.4 MB more


# ---- stale, broken, hostile ----------------------------------------------------------------------------------------


def test_an_index_of_other_weights_is_stale_and_none_is_missing(
    made: TokenIndex, small_copy: Path, tmp_path: Path
) -> None:
    assert open_index(made.folder, small_copy).sentences == len(PAIRS)
    with pytest.raises(IndexRefused, match="There is no index in") as refused:
        open_index(tmp_path, small_copy)
    assert refused.value.reason == "missing"
    checkpoints.save(small_checkpoint(seed=1), small_copy)
    with pytest.raises(IndexRefused, match="before its weights changed") as refused:
        open_index(made.folder, small_copy)
    assert refused.value.reason == "stale"


def _resigned(folder: Path) -> None:
    """Write the checksums of the files as they are now: what somebody does who means harm."""
    facts = json.loads((folder / FACTS_FILE).read_text())
    facts["files"] = {name: checkpoints.file_checksum(folder / name) for name in facts["files"]}
    (folder / FACTS_FILE).write_text(json.dumps(facts))


def test_every_damaged_file_is_noticed(made: TokenIndex, small_copy: Path, tmp_path: Path) -> None:
    names = [SENTENCES_FILE, FACTS_FILE, "encoder.2.safetensors", "source_ids.safetensors", "target_links.safetensors"]
    for number, name in enumerate(names):
        for damage in ("cut", "flipped", "gone"):
            folder = tmp_path / f"{damage}-{number}"
            shutil.copytree(made.folder, folder)
            content = (folder / name).read_bytes()
            if damage == "gone":
                (folder / name).unlink()
            elif damage == "cut":
                (folder / name).write_bytes(content[: len(content) // 2])
            else:
                middle = len(content) // 2
                (folder / name).write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
            with pytest.raises(IndexRefused) as refused:
                open_index(folder, small_copy)
            assert refused.value.reason == ("missing" if (damage, name) == ("gone", FACTS_FILE) else "broken")


@pytest.mark.parametrize("name", list(COLUMNS))
def test_hostile_numbers_with_right_checksums_are_refused(made: TokenIndex, small_copy: Path, name: str) -> None:
    path = made.folder / f"{name}.safetensors"
    values = load_file(path)["values"].copy()
    for change in (lambda v: v[:-1], lambda v: v[:0], lambda v: np.full_like(v, 2**31 - 1), lambda v: v.astype("f4")):
        save_file({"values": change(values)}, path)
        _resigned(made.folder)
        if name.endswith("links") and change(values).dtype == values.dtype and len(change(values)) == len(values):
            site = "encoder.0" if name == "source_links" else "decoder.0"
            assert open_index(made.folder, small_copy).like(TEXTS[2], 0, site)[0].translated == ""
            continue
        with pytest.raises(IndexRefused) as refused:
            open_index(made.folder, small_copy)
        assert refused.value.reason == "broken"


def test_hostile_facts_sentences_and_vectors_are_refused(made: TokenIndex, small_copy: Path, tmp_path: Path) -> None:
    facts = json.loads((made.folder / FACTS_FILE).read_text())
    changes: tuple[dict[str, object], ...] = (
        {"sites": ["../../secret"]}, {"files": {}}, {"sites": "encoder.0"}, {"sites": [["encoder.0"]]},
        {"edition": "1"},
        {"files": facts["files"] | {"../x": "y"}}, {"sites": facts["sites"] + ["encoder.9"]}, {"corpus": 3},
    )  # fmt: skip
    for changed in changes:
        (made.folder / FACTS_FILE).write_text(json.dumps(facts | changed))
        with pytest.raises(IndexRefused):
            open_index(made.folder, small_copy)
    (made.folder / FACTS_FILE).write_text(json.dumps(facts))
    lines = (made.folder / SENTENCES_FILE).read_bytes()
    (made.folder / SENTENCES_FILE).write_bytes(lines.replace(b'"source"', b'"sourcE"'))
    _resigned(made.folder)
    with pytest.raises(IndexRefused, match="is no sentence"):
        open_index(made.folder, small_copy).like(TEXTS[2], 0, "encoder.0")
    (made.folder / SENTENCES_FILE).write_bytes(lines)
    path = made.folder / "encoder.0.safetensors"
    save_file({"values": np.full((made.tokens, 16), np.nan, np.float16)}, path)
    _resigned(made.folder)
    with pytest.raises(IndexRefused, match="not numbers"):
        open_index(made.folder, small_copy).like(TEXTS[2], 0, "encoder.0")


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(folders.checkpoints().glob("*/similar")), ids=lambda path: path.parent.name)
def test_the_indexes_that_ship_are_small_and_fit_their_models(folder: Path) -> None:
    shipped = open_index(folder, folder.parent)
    assert 4900 < shipped.tokens <= 5000 and sum(path.stat().st_size for path in folder.iterdir()) <= 3_000_000
    assert len(shipped.like("I see a dog.", 1, "encoder.1")) == 20


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_makes_an_index_and_looks_up_in_it(
    small_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_RUNS", str(tmp_path / "runs"))
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    assert main(["index", str(small_copy), "--data", str(data)]) == 0
    assert "in 4 sentences: encoder.0, encoder.1, encoder.2" in capsys.readouterr().out
    pairs = [("two \x1b[31m dogs", "snow .")]
    with_escape = index(small_copy, pairs, tmp_path / "escape", corpus="\x1b[2J", sites=["none"])
    assert with_escape.sentences == 1
    assert main(["index", str(small_copy), "--out", str(tmp_path / "escape"), "--like", TEXTS[0], "--token", "1"]) == 0
    assert "�[31m" in (shown := capsys.readouterr().out) and "\x1b" not in shown
    sentence = ["--like", "two dogs are running on a bench ."]
    assert main(["index", str(small_copy), *sentence, "--token", "dogs", "--count", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and lines[0].startswith("1.000") and "two [dogs] are" in lines[0] and "Of 3" in lines[-1]
    assert main(["index", str(small_copy), *sentence, "--token", "2", "--count", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["token"] == "▁dogs" and found["marked"][:2] == ["two ", "dogs"]
    for wrong, message in (
        (sentence, "Give --token too"), ([*sentence, "--token", "cat"], "There is no token"), ([], "Give --data"),
        ([*sentence, "--token", "1", "--site", "x"], "write encoder.3"), (["--data", str(data)], "exists already"),
        ([*sentence, "--token", "1", "--out", str(tmp_path)], "There is no index"),
    ):  # fmt: skip
        assert main(["index", str(small_copy), *wrong]) == 1
        assert message in capsys.readouterr().err
