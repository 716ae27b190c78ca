"""What the Why page says, held to the library's numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.analysis import why
from headlight.analysis.head_changes import HeadChange
from headlight.analysis.sites import by_kind
from headlight.analysis.why.activation_patching import Direction
from headlight.charts.why import bars
from headlight.checkpoints import load_translator
from headlight.formatting import percent, signed, three_digits
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from tests.ui.pages import open_page, page_at, save_small, texts
from transformer import Trace, Translator
from transformer.checkpoint import Checkpoint
from transformer.pruned import prune_heads
from transformer.taps import Site
from ui.why.components import Row
from ui.why.downloads import Picture, page_json, picture_csv
from ui.why.origins import agreement_rows
from ui.why.passes import candidates, forced_pass
from ui.why.view import WhyView
from ui.widgets.text import literal

opened = partial(open_page, "why")


@pytest.fixture
def model(shelves: Path) -> Translator:
    """Return the only model there; tests/analysis/why has other networks, and the page shows what is computed there."""
    return load_translator(save_small(shelves))


def test_the_numbers_are_the_librarys(model: Translator) -> None:
    text = TEXTS[0]
    trace = model.trace(text, text)
    app = opened(text=text, target=text, step="2")
    shares = why.contributions(model.model, trace.source.ids, trace.target.ids)
    assert f"**{percent(float(shares.source[1].sum()))}** from the" in texts(app)
    shown = table(app, "Token", "raw attention")
    assert shown["ALTI+"].sum() == pytest.approx(1)
    left_out = why.leave_one_out(model.model, trace.source.ids, trace.target.ids)[1]
    assert shown["left out, nats"].dropna().tolist() == pytest.approx(left_out.tolist(), abs=1e-6)
    cross = trace.cross.mean((0, 1))[1]
    assert shown["raw attention"].tolist()[: len(cross)] == pytest.approx(cross.tolist(), abs=1e-6)
    by_layer = why.decoder_lens(model.model, trace.source.ids, trace.target.ids).log_probs.sum(-1)
    layers = table(app, "Reads", "Writes")["Log-probability of the translation above, nats"]
    assert layers.tolist() == pytest.approx(by_layer.tolist(), abs=1e-4)


@pytest.mark.slow
def test_the_parts_of_the_difference_sum_to_it(model: Translator) -> None:
    text = TEXTS[0]
    trace = model.trace(text, text)
    other = trace.target.ids[1] if trace.target.ids[1] != trace.target.ids[2] else trace.target.ids[3]
    app = opened(text=text, target=text, step="2", instead=model.checkpoint.target_tokenizer.labels([other])[0])
    parts = why.contrast(model.model, trace.source.ids, trace.target.ids, 1, other)
    assert f"The difference of the two logits is **{signed(parts.difference, plus=True)}**" in texts(app)
    *shown, whole = table(app, "Part", "Logits")["Logits"].tolist()
    assert sum(shown) == pytest.approx(parts.difference, abs=1e-4) == whole
    drawn = picture(app, "why-waterfall")
    assert svg_number(parts.difference) in drawn and svg_number(float(parts.parts["cross"].sum())) in drawn


@pytest.mark.parametrize("exchanged", ["big", "big black"])  # as long as the sentence, and longer by a token
def test_what_is_given_back_is_the_librarys(model: Translator, exchanged: str) -> None:
    text, step = TEXTS[0], 2
    other = text.replace("little", exchanged.replace("big", "dogs").replace("black", "snow"))
    trace = model.trace(text, text)
    app = opened(text=text, target=text, step=str(step + 1), corrupted=other)
    source, corrupted = trace.source.ids, model.encode(other)
    pairs = why.partners(source, corrupted)
    instead = rival(model, trace, step, corrupted)
    found = why.patching(model.model, why.Corruption(source, corrupted, trace.target.ids, step, instead, pairs))
    shown = table(app, "Attention", "Share")["Share"].tolist()
    expected = [share for shares in by_kind(found.restored).values() for share in shares.ravel()]
    assert shown == pytest.approx(expected, abs=1e-6)
    best = sorted(expected)[::-1][:3]
    given_back = table(app, "Given back")
    assert given_back["Share"].tolist()[:3] == pytest.approx(best, abs=1e-6)
    assert "Nothing: 0.0\u00a0%" in texts(app)
    whole = "Everything given back: 100.0\u00a0%" in texts(app)
    assert whole == (len(source) == len(corrupted)) or "have no partner" in texts(app)


def test_the_other_candidate_is_what_the_other_sentence_leads_to(model: Translator) -> None:
    text, other = TEXTS[0], TEXTS[0].replace("little", "dogs")
    target = model.trace(text).translation  # the model's own, which the other sentence changes somewhere
    trace = model.trace(text, target)
    labels = model.checkpoint.target_tokenizer.labels
    after = model.log_probs([model.encode(other)], [trace.target.ids[:-1]])[0].argmax(-1).tolist()
    first = next(at for at, (a, b) in enumerate(zip(after, trace.target.ids[1:], strict=True)) if a != b)
    app = opened(text=text, target=target, corrupted=other)
    heading = f"“{literal(trace.writes.labels[first])}” rather than “{literal(labels([after[first]])[0])}”"
    assert heading in [one.value for one in app.subheader]


def test_a_token_that_is_unknown_is_told_beside_the_box_to_choose_another(model: Translator) -> None:
    app = opened(text=TEXTS[0], target=TEXTS[0], step="2", instead="qqqq")
    assert any("qqqq" in one.value for one in app.info)
    assert "qqqq" in next(one for one in app.selectbox if one.label == "Rather than").options


@pytest.mark.parametrize(("holds", "icon"), [(True, "check_circle"), (False, "error")])
def test_a_check_has_its_tick_only_where_it_holds(holds: bool, icon: str) -> None:
    app = AppTest.from_string(f"from ui.why.components import check\ncheck({holds}, 'sums')").run()
    assert app.caption[0].value == f":material/{icon}: sums"


@pytest.mark.parametrize(
    ("exchanged", "direction", "stack"),
    [
        ("states", "denoise", "decoder"),
        ("forward", "noise", "decoder"),
        ("tokens", "denoise", "encoder"),
        ("tokens", "noise", "decoder"),
    ],
)
def test_one_part_at_one_token_is_the_librarys(
    model: Translator, exchanged: str, direction: Direction, stack: str
) -> None:
    text, other = TEXTS[0], TEXTS[0].replace("little", "dogs")
    trace = model.trace(text, text)
    query = {"exchanged": exchanged, "direction": direction, "states": stack}
    app = opened(text=text, target=text, step="3", corrupted=other, **query)
    corrupted = model.encode(other)
    corruption = why.Corruption(trace.source.ids, corrupted, trace.target.ids, 2, rival(model, trace, 2, corrupted))
    found = why.patching(model.model, corruption, why.PARTS, direction)
    if exchanged == "tokens":
        heads = [(site, head) for site in found.restored for head in range(len(found.restored[site]))]
        heads = [at for at in heads if at[0].stack == stack]
        best = sorted(heads, key=lambda at: -found.restored[at[0]][at[1]])[:8]
        kinds = sorted(heads, key=lambda at: at[0].kind == "cross")  # a grid for each kind of attention
        expected = np.array([found.head_tokens[site][head] for site, head in kinds if (site, head) in best])
    else:
        expected = {"states": found.states, "forward": found.feed_forward}[exchanged][stack]
    shown = table(app, "Stack", "Token")["Share"].tolist()
    assert shown == pytest.approx(expected.ravel().tolist(), abs=1e-4)  # in other batches
    drawn = picture(app, "why-tokens")
    assert all(f">{round(100 * share)}<".replace("-", "−") in drawn for share in shown)
    assert f"{round(100 * max(shown, key=abs))}\u00a0%".replace("-", "−") in texts(app)
    assert f"Everything {'given back' if direction == 'denoise' else 'taken away'}: 100.0\u00a0%" in texts(app)


def test_what_is_taken_away_of_the_patterns_is_the_librarys(model: Translator) -> None:
    text, other = TEXTS[0], TEXTS[0].replace("little", "dogs")
    trace, corrupted = model.trace(text, text), model.encode(other)
    app = opened(text=text, target=text, step="3", corrupted=other, exchanged="patterns", direction="noise")
    corruption = why.Corruption(trace.source.ids, corrupted, trace.target.ids, 2, rival(model, trace, 2, corrupted))
    found = why.patching(model.model, corruption, ["heads", "patterns"], "noise")
    shown = table(app, "Attention", "Share")["Share"].tolist()
    due = [share for shares in by_kind(found.patterns).values() for share in shares.ravel()]
    assert shown == pytest.approx(due, abs=1e-5)
    assert table(app, "Taken away")["Share"].tolist()[0] == pytest.approx(max(shown), abs=1e-5)


def test_patterns_of_sentences_of_different_length_are_not_exchanged(model: Translator) -> None:
    longer = TEXTS[0].replace("little", "black dogs")
    app = opened(text=TEXTS[0], target=TEXTS[0], step="3", corrupted=longer, exchanged="patterns")
    assert any("both sentences need the same number of tokens" in one.value for one in app.info)


@pytest.mark.slow
def test_integrated_gradients_and_the_heads_behind_a_contribution_are_the_librarys(model: Translator) -> None:
    trace = model.trace(TEXTS[0], TEXTS[0])
    app = page_at("why", text=TEXTS[0], target=TEXTS[0], step="2", beside="integrated")
    app.session_state["why-through-opened"] = True
    app.run()
    assert not app.exception and not app.error
    source, target = trace.source.ids, trace.target.ids
    found = why.integrated_gradients(model.model, source, target, 1)
    shown = table(app, "Token", "integrated gradients")["integrated gradients"].tolist()
    assert shown == pytest.approx(np.abs([*found.source, *found.prefix]).tolist(), abs=1e-5)
    assert f"Integrated gradients sum to {signed(found.total, plus=True)}" in texts(app)
    heads = why.head_contributions(model.model, source, target)[1]
    assert table(app, "Layer", "Head")["Share"].tolist() == pytest.approx(heads.ravel().tolist(), abs=1e-6)
    from_source = why.contributions(model.model, source, target).source[1].sum()
    assert f"{heads.sum():.3f} = {from_source:.3f}" in texts(app)


@pytest.mark.parametrize("ablation", why.ABLATIONS)
def test_a_word_without_one_head_is_the_librarys(model: Translator, ablation: why.Ablation) -> None:
    trace = model.trace(TEXTS[0], TEXTS[0])
    app = page_at("why", text=TEXTS[0], target=TEXTS[0], step="2", ablation=ablation)
    app.session_state["why-ablation-opened"] = True
    app.run()
    assert not app.exception and not app.error
    source, target = trace.source.ids, trace.target.ids
    references = [model.encode_pair(TEXTS[1])]  # the sentence itself, which is an example too, says nothing of others
    found = why.ablated_steps(model.model, (source, target), references, ablation)
    expected = [change for changes in by_kind(found).values() for change in changes[..., 1].ravel()]
    assert table(app, "Nats")["Nats"].tolist() == pytest.approx(expected, abs=1e-6)
    most = (
        f", {signed(min(expected), plus=True)}."
        if min(expected) <= -0.1
        else f"more than {signed(-min(expected))} from"
    )
    assert most in texts(app)
    whole = why.head_ablation(model.model, source, target, references, ablation)
    assert sum(effect.delta for effect in whole) == pytest.approx(sum(map(np.sum, found.values())), abs=1e-4)


@pytest.mark.slow
def test_with_heads_off_the_page_says_what_it_says_of_a_pruned_model(model: Translator, shelves: Path) -> None:
    """Another network altogether, without those heads: every table of the page has the same numbers."""
    off, text = [(Site("decoder", 0, "cross"), 1), (Site("encoder", 1, "self"), 3)], TEXTS[0]
    pruned = Checkpoint(
        prune_heads(model.model, off), model.checkpoint.source_tokenizer, model.checkpoint.target_tokenizer, model.card
    )
    checkpoints.save(pruned, shelves / "checkpoints" / "smaller")
    other = model.checkpoint.target_tokenizer.labels([9])[0]
    target = model.translate(text).text  # of its own tokens the probability is not all but 0
    asked = {"text": text, "target": target, "step": "3", "instead": other, "corrupted": text.replace("little", "dogs")}
    here = opened(model="small", changes="cross.1.2,encoder.2.4", **asked)
    there = opened(model="smaller", **asked)
    for columns in (("Token", "raw attention"), ("Part", "Logits"), ("Source token", "Logits"), ("Reads", "Writes")):
        pd.testing.assert_frame_equal(table(here, *columns), table(there, *columns), atol=2e-5)
    exchanged = [table(app, "Attention", "Share")["Share"] for app in (here, there)]
    assert exchanged[1].isna().sum() == 2
    assert exchanged[0][exchanged[1].notna()].tolist() == pytest.approx(exchanged[1].dropna().tolist(), abs=1e-4)

    trace = model.trace(text, target)
    after, before = (float(one.trace(text, target).log_probs[2]) for one in (Translator(pruned), model))
    assert min(after, before) > np.log(5e-4)
    assert (
        f"With cross 1.2 and encoder 2.4 off, the probability of “{literal(trace.writes.labels[2])}” is "
        f"**{three_digits(np.exp(after))}** instead of **{three_digits(np.exp(before))}** "
        f"({signed(after - before, plus=True)} nats)."
    ) in texts(here)
    assert "instead of" not in texts(there)
    assert "changes=cross.1.2%2Cencoder.2.4" in texts(here)  # in the link to Attention


@pytest.mark.slow
def test_heads_are_switched_off_and_on_where_the_token_stays(model: Translator) -> None:
    app = opened(text=TEXTS[0], target=TEXTS[0], changes="cross.1.1u,encoder.9.9")  # which this model lacks
    switches = next(one for one in app.multiselect if one.label == "Switch heads off")
    assert switches.value == [HeadChange("cross", 1, 1, "uniform")]
    assert "With cross 1.1 uniform, the probability of" in texts(app)
    switches.set_value([HeadChange("decoder", 2, 1)]).run()
    assert not app.exception
    assert app.query_params["changes"] == "decoder.2.1" and "step" in app.query_params
    assert "With decoder 2.1 off, the probability of" in texts(app)
    next(one for one in app.multiselect if one.label == "Switch heads off").set_value([]).run()
    assert "changes" not in app.query_params and "the probability of “" not in texts(app).split("Probability")[0]


def test_a_model_without_examples_says_what_a_mean_needs(shelves: Path) -> None:
    checkpoints.save(small_checkpoint(), shelves / "checkpoints" / "small")
    app = page_at("why", text=TEXTS[0], target=TEXTS[0], step="2")
    app.session_state["why-ablation-opened"] = True
    app.run()
    assert not app.exception and any("needs sentences to take a head's output from" in one.value for one in app.info)


def test_a_sentence_that_is_the_same_or_that_cannot_be_read_is_told(model: Translator) -> None:
    same = opened(text=TEXTS[0], target=TEXTS[0], corrupted=TEXTS[0])
    assert any("Both sentences are the same" in one.value for one in same.info)
    empty = opened(text=TEXTS[0], target=TEXTS[0], corrupted="")
    assert any("sentence" in one.value.lower() for one in empty.info)
    assert "sum to the difference" in texts(empty)  # the rest of the page stands


def test_a_t5_is_explained_whole(shelves: Path) -> None:
    checkpoint = small_t5_checkpoint()
    checkpoint.card["examples"] = TEXTS[:2]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "t5")
    app = opened(model="t5", text=TEXTS[0], target=TEXTS[0], step="2", corrupted=TEXTS[0].replace("little", "dogs"))
    said = texts(app)
    for check in ("Contributions sum to 1", "The parts sum to the difference", "Everything given back: 100.0\u00a0%"):
        assert check in said


def test_measures_stand_in_the_order_of_the_corpus_with_their_signed_numbers() -> None:
    nan = float("nan")
    here = {"a": why.Agreement(0.5, 0.1, 4, 0.4, 0.6), "b": why.Agreement(nan, nan, 0, nan, nan)}
    signed_here = {"a": why.Agreement(0.2, 0.1, 4, 0.1, 0.3), "b": why.Agreement(nan, nan, 0, nan, nan)}
    of_corpus = {"mean": 0.3, "low": 0.25, "high": 0.35, "signed": {"mean": 0.1, "low": 0.0, "high": 0.2}}
    rows = agreement_rows(here, signed_here, {"measures": {"b": of_corpus, "a": of_corpus}})
    assert [row["Measure"] for row in rows] == ["b", "a"]
    assert rows[1]["By size"] == 0.5 and rows[1]["Signed"] == 0.2 and rows[1]["Signed, corpus mean"] == 0.1
    assert rows[0]["By size"] is None and rows[0]["By size, corpus low"] == 0.25
    here["c"], signed_here["c"] = here["a"], signed_here["a"]  # which the corpus was not measured with
    del here["b"], signed_here["b"]  # which takes too long for a sentence
    rows = agreement_rows(here, signed_here, {"measures": {"b": of_corpus, "a": of_corpus}})
    assert [(row["Measure"], row["By size"], row["By size, corpus mean"]) for row in rows] == [
        ("b", None, of_corpus["mean"]),
        ("a", 0.5, of_corpus["mean"]),
        ("c", 0.5, None),
    ]


def test_what_is_taken_away_is_what_is_shown() -> None:
    rows: list[Row] = [{"Token": "=x", "Share": 0.25}, {"Token": "b", "Share": float("nan")}]
    picture = Picture("Shares", lambda theme, across: bars([("a", 0.5, "0.50")], theme, across=across), rows)
    table = list(csv.reader(io.StringIO(picture_csv(picture, {"Model": "m"}))))
    assert table == [["Figure", "Shares"], ["Model", "m"], [], ["Token", "Share"], ["'=x", "0.25"], ["b", ""]]
    assert json.loads(page_json({"Model": "m"}, [picture]))["Shares"][1] == {"Token": "b", "Share": None}


def picture(app: AppTest, key: str) -> str:
    """A picture of the page as it was drawn, in its wide form."""
    found = next(one for one in app.get("bidi_component") if one.proto.id.endswith(key))
    header = json.loads(found.proto.bytes[4:].decode())
    return str(header["drawn"][0]["svg"])


def svg_number(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def rival(model: Translator, trace: Trace, step: int, corrupted: list[int]) -> int:
    """What the other sentence would make the model write where it first differs; else the most probable token that was
    not written, by the model's own pass."""
    labels, config = model.checkpoint.target_tokenizer.labels, model.model.config
    never = [token for token in (config.pad_id, config.sos_id) if token != config.eos_id]
    probable = model.log_probs([corrupted], [trace.target.ids[:-1]])[0].clone()
    probable[:, never] = -1e9
    after = probable.argmax(-1).tolist()
    differ = [at for at, (a, b) in enumerate(zip(after, trace.target.ids[1:], strict=True)) if a != b]
    if differ and differ[0] == step:
        return int(after[step])
    log_probs = model.log_probs([trace.source.ids], [trace.target.ids[:-1]])[0, step].clone()
    log_probs[never] = -1e9
    same = [token for token in range(len(log_probs)) if labels([token])[0] == trace.writes.labels[step]]
    log_probs[same] = -1e9
    return int(log_probs.argmax())


def table(app: AppTest, *columns: str) -> pd.DataFrame:
    return next(one.value for one in app.dataframe if set(columns) <= set(one.value))


@pytest.mark.parametrize("make", [small_checkpoint, small_t5_checkpoint])
def test_what_can_never_be_written_is_no_alternative(make: Callable[[], Checkpoint], shelves: Path) -> None:
    """Padding and the start have logits too, and two tokens may read the same."""
    checkpoint = make()
    with torch.no_grad():
        checkpoint.model.output.weight[checkpoint.model.config.pad_id] *= 50.0
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    model = load_translator(shelves / "checkpoints" / "small")
    trace = model.trace(TEXTS[0], TEXTS[0])
    config, labels = model.model.config, model.checkpoint.target_tokenizer.labels
    for step in range(len(trace.writes)):
        offered = [token for token, _ in candidates(*forced_pass("small", trace, WhyView()), step)]
        assert offered and not {config.pad_id, config.sos_id} & set(offered) - {config.eos_id}
        assert trace.writes.labels[step] not in labels(offered)
