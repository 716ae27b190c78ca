import random
import tracemalloc
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import combinations, islice

import pytest

from headlight.corpora.about import about
from headlight.corpora.corpora import open_corpus
from headlight.corpora.gold import (
    GoldCorpus,
    GoldPair,
    GoldWord,
    Pronoun,
    count_resolved,
    gold_pair,
    is_held_out,
    split_of,
    split_words,
)
from headlight.corpora.grammars import GRAMMARS
from tests import french, hindi
from transformer.tokenizers import Tokenizer, TokenizerKind

SPLITS = ("train", "validation", "test", "combinations")
grammars = pytest.mark.parametrize("grammar", list(GRAMMARS))


@cache
def trained_on(grammar: str) -> list[GoldPair]:
    """The first sentences of its training split, written once for all the tests that read them."""
    return list(GoldCorpus(GRAMMARS[grammar], "train", 10_000).gold())


class Letters:
    """Small enough to know everything that it can write: 30 x 30 pairs of a letter and a number."""

    name = "letters"

    def pair(self, rng: random.Random) -> GoldPair:
        letter, number = chr(ord("A") + rng.randrange(30)), rng.randrange(30)
        return GoldPair(f"{letter} {number}", f"{number}.{letter}", (), (), frozenset([f"pair: {letter}+{number}"]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'animal n'a  pas.", ["L", "'", "animal", "n", "'", "a", "pas", "."]),
        ("Est-ce que ?", ["Est", "-", "ce", "que", "?"]),
        ("मुझे पिज़्ज़ा पसंद है।", ["मुझे", "पिज़्ज़ा", "पसंद", "है", "।"]),
        (" 3 œufs ", ["3", "œufs"]),
        ("", []),
    ],
)
def test_words_of_a_text(text: str, expected: list[str]) -> None:
    assert split_words(text) == expected


@pytest.mark.slow
@grammars
@pytest.mark.parametrize("kind", ["bpe", "words", "characters"])
def test_words_are_what_tokenizers_group(grammar: str, kind: TokenizerKind) -> None:
    pairs = trained_on(grammar)[:100]
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    tokenizer = Tokenizer.train(texts, kind, 500 if kind == "bpe" else 3000, min_frequency=1)
    for text in texts:
        ids = tokenizer.encode(text)
        grouped = ["".join(tokenizer.piece(ids[index]) for index in group) for group in tokenizer.word_groups(ids)]
        assert [group.strip("▁ ") for group in grouped] == split_words(text)
        assert tokenizer.decode(ids) == text  # with its punctuation and its spaces, nothing lost


def test_a_pair_is_written_from_its_words() -> None:
    the, office, didnt, open_, mark = (
        GoldWord("the"), GoldWord("post office"), GoldWord("didn't"), GoldWord("open"), GoldWord(".", glued=True),
    )  # fmt: skip
    it = GoldWord("it")
    le, poste = GoldWord("l'", (the,)), GoldWord("office", (office,), glued=True)
    pair = gold_pair(
        [the, office, didnt, open_, it, mark],
        [le, poste, GoldWord("ne", (didnt,)), GoldWord("ouvre", (open_, it)), GoldWord(".", (mark,), glued=True)],
        [(it, office, le, False)],
        ["a+b"],
    )
    assert (pair.source, pair.target) == ("The post office didn't open it.", "L'office ne ouvre.")
    # the post office didn ' t open it . = 0 to 8; L ' office ne ouvre . = 0 to 5
    assert pair.links == ((0, 0), (0, 1), (1, 2), (2, 2), (3, 3), (4, 3), (5, 3), (6, 4), (7, 4), (8, 5))
    assert pair.pronouns == (Pronoun(word=7, antecedent=2, written=0, shows=False),)
    assert pair.combinations == {"a+b"}


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("Il n'a pas traversé la rue parce qu'il était fatigué.", 1),
        ("Il n'a pas traversé la route parce qu'il était très las.", 1),  # other words are not its business
        ("Il n'a pas traversé la rue parce qu'elle était fatiguée.", 0),
        ("Elle n'a pas traversé la rue, il faisait nuit, parce qu'elle était fatiguée.", 0),  # another "il"
        ("Il n'a pas traversé la rue.", 0),  # nothing is shown
        ("", 0),
    ],
)
def test_a_pronoun_is_understood_where_its_word_has_the_form(written: str, right: int) -> None:
    gold = "Il n'a pas traversé la rue parce qu'il était fatigué."
    place = split_words(gold).index("il")  # not the "Il" that begins the sentence
    assert count_resolved(GoldPair("", gold, (), (Pronoun(0, 0, place),)), written) == right
    assert count_resolved(GoldPair("", gold, ()), written) == 0
    assert count_resolved(GoldPair("", gold, (), (Pronoun(0, 0, place, shows=False),)), written) == 0


@grammars
def test_a_right_translation_shows_every_pronoun(grammar: str) -> None:
    for pair in trained_on(grammar)[:200]:
        assert count_resolved(pair, pair.target) == len(pair.resolvable)
        without = split_words(pair.target)
        for pronoun in pair.pronouns:
            without[pronoun.written] = "?!"
        assert count_resolved(pair, " ".join(without)) == 0


def test_a_held_out_combination_is_in_no_other_split() -> None:
    listed = {split: [pair.source for pair in GoldCorpus(Letters(), split, 15).gold()] for split in SPLITS}
    sources = {split: set(texts) for split, texts in listed.items()}
    for split in SPLITS[1:]:  # of the few that there are, none is tested twice
        assert len(sources[split]) == len(listed[split]) == 15
    sources["train"] = {pair.source for pair in GoldCorpus(Letters(), "train", 10_000).gold()}
    assert all(not one & other for one, other in combinations(sources.values(), 2))
    everything = [(f"{chr(ord('A') + letter)} {number}", f"{number}.{chr(ord('A') + letter)}")
                  for letter in range(30) for number in range(30)]  # fmt: skip
    held = {source for source, _ in everything if is_held_out("pair: " + source.replace(" ", "+"))}
    assert 9 < len(held) < 54  # 3 % of 900 are 27
    assert sources["combinations"] <= held
    assert not held & (sources["train"] | sources["validation"] | sources["test"])


@grammars
def test_same_seed_same_pairs_each_time(grammar: str) -> None:
    corpus = GoldCorpus(GRAMMARS[grammar], size=100)
    assert list(corpus.gold()) == list(corpus.gold()) == list(GoldCorpus(GRAMMARS[grammar], size=100).gold())
    assert list(corpus) != list(GoldCorpus(GRAMMARS[grammar], size=100, seed=1))
    assert [pair[1:3] for pair in corpus] == [(pair.source, pair.target) for pair in corpus.gold()]
    assert [pair.line for pair in corpus] == list(range(1, 101))
    assert (corpus.report.read, corpus.report.accepted) == (100, 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    "many, sizes",
    [(french.many, (range(600, 1000), range(1000, 1600))), (hindi.many, (range(500, 801), range(700, 1301)))],
)
def test_one_source_has_one_target_of_few_words_in_a_million_sentences(
    many: Callable[[], list[GoldPair]], sizes: tuple[range, range]
) -> None:
    """Two lower bounds: Chao's (1984), by those drawn once and twice, and by equal pairs among long sentences."""
    targets: dict[str, str] = {}
    for pair in many():
        assert targets.setdefault(pair.source, pair.target) == pair.target, pair.source
    assert len(targets) > 0.9 * len(many())
    times = Counter(Counter(pair.source for pair in many()).values())
    long = Counter(pair.source for pair in many() if pair.source.count(" ") >= 9)
    equal = sum(count * (count - 1) // 2 for count in long.values())
    by_equal_pairs = long.total() * (long.total() - 1) / 2 / max(equal, 1)
    assert max(len(targets) + times[1] ** 2 / (2 * times[2]), by_equal_pairs) > 1_000_000
    for texts, size in zip(zip(*targets.items(), strict=True), sizes, strict=True):
        assert len({word.lower() for text in texts for word in split_words(text) if word[0].isalpha()}) in size


@pytest.mark.slow
@grammars
def test_splits_share_no_sentence_whatever_their_seeds(grammar: str) -> None:
    sizes = (300, 8, 8, 8)
    sentences = [
        {
            text
            for seed in range(2)
            for pair in GoldCorpus(GRAMMARS[grammar], split, size, seed).rows()
            for text in pair[1:3]
        }
        for split, size in zip(SPLITS, sizes, strict=True)
    ]
    sentences[0] |= {text for pair in trained_on(grammar) for text in (pair.source, pair.target)}
    assert all(not one & other for one, other in combinations(sentences, 2))


@pytest.mark.slow
@grammars
def test_training_knows_the_parts_of_what_is_held_out(grammar: str) -> None:
    train = {name for pair in trained_on(grammar) for name in pair.combinations}
    tested = list(GoldCorpus(GRAMMARS[grammar], "combinations", 150).gold())
    held = {name for pair in tested for name in pair.combinations if is_held_out(name)}
    assert len(held) > 20 and not held & train
    parts = {(kind, part) for kind, *both in map(parts_of, train) for part in enumerate(both)}
    unknown = {
        name for name in held for part in enumerate(parts_of(name)[1:]) if (parts_of(name)[0], part) not in parts
    }
    assert not unknown
    assert all(any(map(is_held_out, pair.combinations)) for pair in tested)


def parts_of(combination: str) -> list[str]:
    """ "noun+adjective: street+wide" as "noun+adjective", "street", "wide"."""
    kind, names = combination.split(": ")
    return [kind, *names.split("+")]


@grammars
def test_memory_is_flat(grammar: str) -> None:
    corpus = GoldCorpus(GRAMMARS[grammar], size=10**9)
    peaks = []
    list(islice(corpus, 500))  # fills the caches of the lexicon
    for size in (50, 500):
        tracemalloc.start()
        for _ in islice(corpus, size):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 100_000


def test_a_split_that_a_grammar_cannot_fill_is_refused() -> None:
    """Letters has 900 sentences, of which some 27 are held out."""
    with pytest.raises(ValueError, match=r"letters \(combinations\) has only \d+ pairs of 1,000"):
        list(GoldCorpus(Letters(), "combinations").gold())


@grammars
def test_a_grammar_is_a_corpus_by_its_name(grammar: str) -> None:
    splits = open_corpus(grammar)
    assert [corpus.name for corpus in splits if corpus] == [
        f"{grammar} ({split})" for split in ("train", "validation", "test")
    ]
    tested = open_corpus(f"{grammar}:combinations").test
    assert isinstance(tested, GoldCorpus)
    assert all(split_of(pair) == "combinations" for pair in islice(tested.gold(), 20))
    with pytest.raises(ValueError, match=f"{grammar}:other.*is not a corpus"):
        open_corpus(f"{grammar}:other")


@grammars
def test_the_examples_are_in_words_that_the_grammar_writes(grammar: str) -> None:
    known = {word.lower() for pair in trained_on(grammar)[:6000] for word in split_words(pair.source)}
    card = about(grammar)
    assert card["source"] == "English" and card["examples"]
    assert {word.lower() for example in card["examples"] for word in split_words(example)} <= known


def test_a_split_that_is_none_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="'dev'.*train, validation, test, combinations"):
        GoldCorpus(Letters(), "dev")
