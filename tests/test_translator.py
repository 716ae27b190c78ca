"""Text in; translation, log-probabilities and trace out."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from tokenizers import models, pre_tokenizers, trainers

from headlight import checkpoints
from headlight.checkpoints import load_translator
from tests.small import id_rows, small_checkpoint, small_translator
from transformer import Trace, Transformer, Translator
from transformer.decoding import finish, greedy
from transformer.inference.prepared import Prepared
from transformer.taps import Ablate, Recorder, Site, chain
from transformer.tokenizers import Tokenizer

pytestmark = pytest.mark.device

SENTENCE = "a little girl is running"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return small_translator()


def test_the_trace_is_the_pass_that_gave_the_log_probabilities(translator: Translator) -> None:
    trace = translator.trace(SENTENCE)
    recorder = Recorder()
    src, tgt = id_rows(list(trace.source.ids)), id_rows(list(trace.target.ids))
    with torch.no_grad():
        logits = translator.model(src, tgt[:, :-1], recorder)
    assert np.array_equal(trace.cross[2], recorder[Site("decoder", 2, "cross")][0][0].cpu().numpy())
    assert np.array_equal(trace.encoder[1], recorder[Site("encoder", 1, "self")][0][0].cpu().numpy())
    expected = logits.log_softmax(-1)[0].gather(1, tgt[0, 1:, None])[:, 0]
    assert np.allclose(trace.log_probs, expected.cpu().numpy(), atol=1e-6)


def test_a_typed_text_says_which_tokens_are_a_word_where_no_token_marks_it() -> None:
    checkpoint = small_checkpoint()
    inner = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    first = ["[PAD]", "[UNK]", "[SOS]", "[EOS]"]
    inner.train_from_iterator(["Cl ima te ch an ge"], trainers.BpeTrainer(special_tokens=first))
    config = checkpoint.model.config
    tokenizer = Tokenizer(inner, 0, 2, 3).of_size(config.source_vocab_size)
    unmarked = Translator(replace(checkpoint, source_tokenizer=tokenizer, target_tokenizer=tokenizer))
    trace = unmarked.trace("Climate change", target="change Climate")
    assert trace.source.words == [[0, 1, 2], [3, 4, 5], [6]]
    assert trace.target.words == [[0], [1, 2, 3], [4, 5, 6], [7]]


def test_shapes_and_labels_of_unequal_stacks(translator: Translator) -> None:
    trace = translator.trace(SENTENCE, target="two dogs are running")
    assert trace.encoder.shape == (2, 4, 6, 6)
    assert trace.decoder.shape == (3, 2, 5, 5)
    assert trace.cross.shape == (3, 2, 5, 6)
    assert trace.reads.labels == ["[SOS]", "▁two", "▁dogs", "▁are", "▁running"]
    assert trace.writes.labels == ["▁two", "▁dogs", "▁are", "▁running", "[EOS]"]
    assert trace.columns("cross") == ["▁a", "▁little", "▁girl", "▁is", "▁running", "[EOS]"]
    for kind in ("encoder", "decoder", "cross"):
        assert trace.pattern(kind).shape[-2:] == (len(trace.rows(kind)), len(trace.columns(kind)))
        assert np.allclose(trace.pattern(kind).sum(-1), 1, atol=1e-5)
    assert trace.masked("decoder").sum() == 10 and not trace.masked("cross").any()


def test_the_models_own_translation_is_what_the_beam_found(translator: Translator) -> None:
    best = translator.translate(SENTENCE)
    trace = translator.trace(SENTENCE)
    assert trace.target.ids[1:] == best.ids
    assert trace.translation == best.text
    assert trace.log_prob == pytest.approx(best.log_prob, abs=1e-4)


def test_all_that_a_translator_does_prepares_its_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = list[Prepared](), Prepared.__init__

    def counted(self: Prepared, model: Transformer, *how: bool) -> None:
        made.append(self)
        make(self, model, *how)

    monkeypatch.setattr(Prepared, "__init__", counted)
    translator = small_translator()
    translator.encode(SENTENCE)
    assert not made  # reading a sentence needs no weights
    translator.translate(SENTENCE)
    translator.translate(SENTENCE, beam_size=1)
    translator.sample(SENTENCE)
    trace = translator.trace(SENTENCE)
    translator.log_probs([trace.source.ids], [trace.target.ids])
    assert made == [translator.prepared]


def test_a_batch_is_each_sentence_alone(translator: Translator) -> None:
    texts = ["a girl", "two dogs are running in the snow .", "bench", "a little girl is sitting"]
    together = translator.translate_batch(texts, batch=3)
    assert [t.text for t in together] == [translator.translate(text).text for text in texts]


def test_beam_one_is_greedy_and_n_best_is_sorted(translator: Translator) -> None:
    src = translator.source_batch([translator.encode(SENTENCE)])
    (hypotheses,) = finish(greedy(translator.model, src))
    assert translator.translate(SENTENCE, beam_size=1).ids == list(hypotheses[0].ids)
    scores = [t.score for t in translator.n_best(SENTENCE, 4)]
    assert len(scores) == 4 and scores == sorted(scores, reverse=True)


def test_log_probs_take_lists_arrays_and_tensors_and_hide_padding(translator: Translator) -> None:
    src, tgt = [[5, 6, 3, 0]], [[2, 7, 8, 0]]
    log_probs = translator.log_probs(src, tgt).cpu()
    assert log_probs.shape == (1, 4, translator.model.config.target_vocab_size)
    assert torch.allclose(log_probs.exp().sum(-1), torch.ones(1, 4), atol=1e-5)
    assert torch.equal(log_probs, translator.log_probs(np.array(src), torch.tensor(tgt)).cpu())
    alone = translator.log_probs([[5, 6, 3]], [[2, 7, 8]]).cpu()
    assert torch.allclose(log_probs[:, :3], alone, atol=1e-5)


@pytest.mark.parametrize(
    ("src", "tgt", "what"),
    [
        ([[5, 10**6]], [[2]], "src_ids"), ([[5]], [[-1]], "tgt_ids"), ([5], [[2]], "src_ids"),
        ([[0.5]], [[2]], "src_ids"), ([[]], [[2]], "src_ids"), ([[5], [5]], [[2]], "2 rows"),
    ],
)  # fmt: skip
def test_wrong_ids_are_refused_by_name(translator: Translator, src: list, tgt: list, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        translator.log_probs(src, tgt)


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_nothing_to_translate_is_refused(translator: Translator, text: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        translator.trace(text)


def test_a_text_longer_than_the_model_reads_is_refused_with_both_numbers(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"10,001 tokens.*at most 32"):
        translator.trace("girl " * 10_000)


@pytest.mark.parametrize(
    "text", ["😀 😀", "日本語", "<img src=x onerror=alert(1)>", "שלום", "[EOS] [PAD]", "\ud800", "a\x00b"]
)
def test_strange_text_is_read(translator: Translator, text: str) -> None:
    trace = translator.trace(text)
    assert np.isfinite(trace.log_probs).all()
    assert trace.source.special.count(True) == 1 + trace.source.pieces.count("[UNK]")


def test_an_intervention_changes_output_and_patterns_but_not_the_model(translator: Translator) -> None:
    before = {name: p.clone() for name, p in translator.model.named_parameters()}
    off = [Ablate(Site("decoder", layer, "cross"), head) for layer in range(3) for head in range(2)]
    plain = translator.trace(SENTENCE)
    forced = translator.trace_ids(plain.source.ids, plain.target.ids, off)
    assert not forced.cross.any()
    assert not np.allclose(forced.decoder[1], plain.decoder[1])
    assert forced.log_prob != pytest.approx(plain.log_prob, abs=1e-3)
    assert all(torch.equal(before[name], p) for name, p in translator.model.named_parameters())
    # With the source out of sight, what is written cannot depend on it.
    one, other = (translator.trace(text, interventions=off).target.ids for text in ("a girl", "two dogs are running"))
    assert one[: len(other)] == other[: len(one)]


def test_a_trace_that_was_saved_before_it_named_its_model_still_opens(translator: Translator, tmp_path) -> None:
    path = tmp_path / "trace.npz"
    translator.trace("a girl").save(path)
    assert Trace.load(path).model == "Small"
    with np.load(path) as data:
        np.savez(path, **{name: data[name] for name in data.files if name != "model"})
    assert (Trace.load(path).model, Trace.load(path).text) == ("", "a girl")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"\x80\x04."])
def test_a_file_that_is_no_trace_is_refused_by_name(tmp_path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"broken\.npz"):
        Trace.load(path)
    with pytest.raises(ValueError, match="no trace at"):
        Trace.load(tmp_path / "none.npz")


def test_separate_vocabularies_are_each_used_on_their_side() -> None:
    one, other = small_checkpoint(), small_checkpoint("characters")
    checkpoint = small_checkpoint()
    checkpoint.source_tokenizer = other.target_tokenizer
    translator = Translator(checkpoint)
    if other.model.config.source_vocab_size > one.model.config.source_vocab_size:
        pytest.fail("the test needs a source vocabulary that the model's embedding covers")
    trace = translator.trace("girl", target="girl")
    assert trace.source.labels == ["g", "i", "r", "l", "[EOS]"]
    assert trace.writes.labels == ["▁girl", "[EOS]"]


def test_a_type_or_a_device_that_there_is_not_is_refused(tmp_path: Path) -> None:
    checkpoints.save(small_checkpoint(), tmp_path)
    with pytest.raises(ValueError, match="The dtype is 'int8'; choose one of float32, bfloat16"):
        load_translator(tmp_path, dtype="int8")
    with pytest.raises(ValueError, match="The device is 'tpu9'; this machine has cpu"):
        load_translator(tmp_path, "tpu9")


@pytest.mark.parametrize(
    ("site", "head", "message"),
    [
        (Site("decoder", 3, "cross"), 1, "cross attention in decoder layer 3; this model has such layers 0 to 2"),
        (Site("encoder", -1, "self"), 1, "self attention in encoder layer -1; this model has such layers 0 to 1"),
        (Site("encoder", 0, "cross"), 1, "cross attention in encoder layer 0; this model has none"),
        (Site("decoder", 2, "cross"), 2, "for head 2; the heads that this model has there: 0, 1"),
        (Site("encoder", 0, "self"), -1, "for head -1; the heads that this model has there: 0, 1, 2, 3"),
    ],
)
def test_an_intervention_on_a_head_that_is_not_there_is_refused(
    translator: Translator, site: Site, head: int, message: str
) -> None:
    """An intervention on a head that does not exist changes nothing, which would look like a head without effect."""
    there = Ablate(Site("decoder", 2, "cross"), 1)
    for ask in (
        lambda taps: translator.trace(SENTENCE, interventions=taps),
        lambda taps: translator.translate(SENTENCE, beam_size=1, tap=chain(*taps)),
        lambda taps: translator.trace_ids([4, 5, 3], [2, 4, 3], taps),
    ):
        ask([there])
        with pytest.raises(ValueError, match=re.escape(message)):
            ask([there, Ablate(site, head)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": ["a", "b"]}, "There are 2 texts; give one str, or use translate_batch"),
        ({"text": None}, "The text is None; give a str"),
        ({"text": "a", "target": 3}, "The translation is 3; give a str"),
        ({"text": "a", "interventions": Ablate(Site("encoder", 0, "self"), 0)}, "interventions is Ablate.*give a list"),
        ({"text": "a", "interventions": [3]}, "interventions is .*give a list such as"),
    ],
)
def test_arguments_of_another_type_are_refused_in_a_sentence(arguments: dict[str, Any], message: str) -> None:
    translator = Translator(small_checkpoint())
    with pytest.raises(ValueError, match=message):
        translator.trace(**arguments)
