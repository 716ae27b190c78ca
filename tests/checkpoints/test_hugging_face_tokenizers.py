"""The tokenizers beside Hugging Face models, against those of `transformers`: the same ids for the same text."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from headlight.checkpoints import load_translator
from headlight.importers import sentencepiece_file
from headlight.importers.forms.languages import NAMES
from headlight.importers.importing import examine, import_model
from headlight.importers.questions import Answers
from tests.checkpoints.hugging_face import MARIAN_IDS, piece_model, random_model, save, sentences, transformers
from tests.checkpoints.test_random_configurations import BERTS
from transformer import Translator
from transformer.checkpoint.weights import Refused
from transformer.tokenizers import Tokenizer

sentencepiece = pytest.importorskip("sentencepiece")

# Unknown characters, one or several at a time; capitals; spaces; what normalises to something else.
STRANGE = "đuro ñandú 日本 größe 😀 ZEBRA Q \u00a0x a\u0301b ▁x ß \t ½ ﬁne x··y".replace("··", "  ")
TEXTS = [*sentences(80), *sentences(150, STRANGE, seed=1), "  lead", "trail  ", "Hello   WORLD", "a", "."]


def differing(tokenizer: Any, translator: Translator, **options: Any) -> list[str]:
    """The texts that are cut differently, with what stands around them."""
    return [text for text in TEXTS if tokenizer(text, **options)["input_ids"] != translator.encode(text)]


def imported(folder: Path, out: Path, **answers: str) -> Translator:
    import_model(folder, out, Answers(**answers))  # type: ignore[arg-type]
    return load_translator(out)


def marian_folder(folder: Path, kind: str = "unigram") -> Path:
    """Pieces of two languages in one vocabulary, in another order, with a language, holes, and pieces left out."""
    source, target = piece_model(folder, "a", kind), piece_model(folder, "b", kind, "größe đuro ñandú Ende schön")
    pieces = [">>deu<<"]
    for path in (target, source):
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        pieces += [model.id_to_piece(id) for id in range(model.get_piece_size())]
    pieces = list(dict.fromkeys(piece for piece in pieces if piece not in ("</s>", "<unk>", "<s>")))
    del pieces[40:44]
    tokens = ["</s>", "<unk>", *pieces, ">>fra<<", "öß", "<pad>"]
    ids = {token: id + (id > 30) for id, token in enumerate(tokens)}  # nobody has id 31
    size = max(ids.values()) + 1
    fields = {"pad_token_id": ids["<pad>"], "decoder_start_token_id": ids["<pad>"], "vocab_size": size}
    save(random_model("marian", **{**MARIAN_IDS, **fields}, max_position_embeddings=200), folder / "m")
    (folder / "m" / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    shutil.copy(source, folder / "m" / "source.spm")
    shutil.copy(target, folder / "m" / "target.spm")
    return folder / "m"


@pytest.mark.filterwarnings("ignore:Recommended")
def test_marian_cuts_as_marian(tmp_path: Path) -> None:
    folder = marian_folder(tmp_path)
    theirs = transformers.MarianTokenizer.from_pretrained(folder)
    ours = imported(folder, tmp_path / "out")
    assert len({text for text in TEXTS if 1 in ours.encode(text)}) > 50  # unknown things are among them
    assert differing(theirs, ours) == []
    for start in (">>fra<<", ">>deu<< "):
        text = f"{start}hello the world"
        assert ours.encode(text) == theirs(text)["input_ids"]
    assert ours.encode(">>fra<< a")[0] == theirs.encoder[">>fra<<"]
    for text in ("größe Ende .", "hello"):
        ids = theirs(text_target=text, add_special_tokens=False)["input_ids"]
        assert ours.checkpoint.target_tokenizer.encode(text) == ids
        assert ours.checkpoint.target_tokenizer.decode(ids) == theirs.decode(ids, use_source_tokenizer=False)
    for typed in ("</s>", "<pad>", "<unk>"):  # what people type is never a special token
        assert not set(ours.encode(f"a {typed} a")[:-1]) & {0, theirs.pad_token_id}


def test_the_language_that_was_asked_for_stands_first(tmp_path: Path) -> None:
    folder = marian_folder(tmp_path)
    (question,) = examine(folder).questions
    assert question.choices == ("deu", "fra") and not question.required
    ours = imported(folder, tmp_path / "out", target_language="fra")
    ids = json.loads((folder / "vocab.json").read_text())
    assert ours.encode("hello")[0] == ids[">>fra<<"] and ours.card["target"] == "fra"
    with pytest.raises(Refused, match="cannot be spa.*deu, fra"):
        import_model(folder, tmp_path / "other", Answers(target_language="spa"))


@pytest.mark.parametrize(("kind", "rule"), [("bpe", "nmt_nfkc"), ("unigram", "identity")])
def test_other_sentencepiece_models_are_split_the_same_way(tmp_path: Path, kind: str, rule: str) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentences(300)), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(tmp_path / "m"), vocab_size=90, model_type=kind, minloglevel=2,
        normalization_rule_name=rule, hard_vocab_limit=False,
        user_defined_symbols=["dog", "ow"] if kind == "unigram" else [],
    )  # fmt: skip
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    ids = {theirs.id_to_piece(id): id for id in range(theirs.get_piece_size())}
    ours = Tokenizer(sentencepiece_file.tokenizer(sentencepiece_file.read(tmp_path / "m.model"), ids, "<unk>"), 1, 1, 2)
    assert [text for text in TEXTS if ours.encode(text) != theirs.encode(text)] == []


def test_damaged_sentencepiece_models_are_refused(tmp_path: Path) -> None:
    whole = piece_model(tmp_path, "a").read_bytes()
    broken = tmp_path / "broken.model"
    for content in (b"", whole[:1000], b"\x0a\xff\xff\xff\xff\xff\xff", b"no model", whole + b"\x0a\x05"):
        broken.write_bytes(content)
        with pytest.raises(Refused, match=r"broken\.model|cuts texts"):
            sentencepiece_file.read(broken)
    with pytest.raises(Refused, match="cuts texts into words or characters"):
        sentencepiece_file.read(piece_model(tmp_path, "c", "char"))


def test_bart_cuts_bytes_as_bart(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentences(300)), encoding="utf-8")
    trained = tokenizers.ByteLevelBPETokenizer()
    first = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train([str(text)], vocab_size=330, min_frequency=2, special_tokens=first, show_progress=False)
    model = random_model("bart", vocab_size=trained.get_vocab_size() + 3, max_position_embeddings=300)
    folder = save(model, tmp_path / "theirs")
    trained.save_model(str(folder))
    theirs = transformers.BartTokenizer.from_pretrained(folder)
    assert differing(theirs, imported(folder, tmp_path / "slow")) == []
    theirs.save_pretrained(folder)
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)
    ours = imported(folder, tmp_path / "fast")
    assert differing(theirs, ours) == []
    trace = ours.trace("naïve girl 日", target="a")
    assert trace.source.pieces[0] == "<s>" and trace.source.pieces[-1] == "</s>"
    assert "".join(trace.source.pieces[1:-1]).replace("▁", " ") == "naïve girl <0xE6><0x97><0xA5>"
    assert trace.text == "naïve girl 日"


LANGUAGES = {"source_language": "fr_XX", "target_language": "de_DE"}


@pytest.mark.parametrize(
    ("cls", "start", "languages"),
    [("MBartTokenizer", None, 25), ("MBart50Tokenizer", 2, 52)],
    ids=["mbart", "mbart-50"],
)
def test_mbart_and_where_its_languages_stand(tmp_path: Path, cls: str, start: int | None, languages: int) -> None:
    tokenizer_class = getattr(transformers, cls)
    path = piece_model(tmp_path, "a")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(path)).get_piece_size()
    network = random_model(
        "mbart", vocab_size=pieces + languages + 2, decoder_start_token_id=start, max_position_embeddings=200
    )
    folder = save(network, tmp_path / "theirs")
    shutil.copy(path, folder / "sentencepiece.bpe.model")
    theirs = tokenizer_class.from_pretrained(folder, src_lang="fr_XX", tgt_lang="de_DE")
    asked = examine(folder).questions
    assert [question.field for question in asked] == ["source_language", "target_language"]
    assert all(len(question.choices) == languages and question.required for question in asked)
    ours = imported(folder, tmp_path / "pieces", **LANGUAGES)
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    french, german = theirs.convert_tokens_to_ids(["fr_XX", "de_DE"])
    for text in TEXTS:  # this version of transformers leaves out how the model normalises
        ids = [id + 1 if id > 2 else 3 for id in model.encode(text)]
        assert ours.encode(text) == ([*ids, 2, french] if start is None else [french, *ids, 2])
    theirs.save_pretrained(folder)
    (folder / "sentencepiece.bpe.model").unlink()
    ours = imported(folder, tmp_path / "whole", **LANGUAGES)
    assert differing(theirs, ours) == []
    target = ours.encode_target("hello")
    hello = ours.checkpoint.target_tokenizer.encode("hello")
    if start is None:
        assert ours.encode("hello")[-2:] == [2, french] and target == [german, *hello, 2]
    else:
        assert ours.encode("hello")[0] == french and target == [2, german, *hello, 2]
    assert ours.trace("hello").target.pieces[: len(target) - len(hello) - 1][-1] == "de_DE"


def test_m2m100_with_its_vocabulary(tmp_path: Path) -> None:
    path = piece_model(tmp_path, "a", "bpe")
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *(model.id_to_piece(id) for id in range(3, model.get_piece_size()))]
    del tokens[20]  # a piece that the vocabulary lacks is unknown
    folder = save(
        random_model("m2m100", vocab_size=len(tokens) + 108, max_position_embeddings=200), tmp_path / "theirs"
    )
    (folder / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}), encoding="utf-8")
    shutil.copy(path, folder / "sentencepiece.bpe.model")
    theirs = transformers.M2M100Tokenizer.from_pretrained(folder, src_lang="fr")
    ours = imported(folder, tmp_path / "out", source_language="fr", target_language="de")
    assert differing(theirs, ours) == []
    assert ours.encode_target("a")[:2] == [2, theirs.get_lang_id("de")]


def test_nllb_with_its_tokenizer_json(tmp_path: Path) -> None:
    path = piece_model(tmp_path, "a", "bpe")
    names = ["ace_Arab", "deu_Latn", "eng_Latn", "fra_Latn"]
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(path)).get_piece_size()
    folder = save(random_model("m2m100", vocab_size=pieces + 9, max_position_embeddings=200), tmp_path / "theirs")
    shutil.copy(path, folder / "sentencepiece.bpe.model")
    options = {"src_lang": "fra_Latn", "additional_special_tokens": names}
    theirs = transformers.NllbTokenizer.from_pretrained(folder, **options)
    theirs.save_pretrained(folder)
    asked = examine(folder).questions
    assert all(sorted(question.choices) == names for question in asked) and asked[0].usual == "fra_Latn"
    ours = imported(folder, tmp_path / "out", source_language="fra_Latn", target_language="deu_Latn")
    assert differing(theirs, ours) == []
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"legacy_behaviour": True}))
    french = theirs.convert_tokens_to_ids("fra_Latn")
    legacy = imported(folder, tmp_path / "legacy", source_language="fra_Latn", target_language="deu_Latn")
    assert legacy.encode("hello") == [*ours.encode("hello")[1:], french]


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 0, "b": 0}', '{"a": -1}', '{"a": true}', '{"a": 0}'])
def test_a_vocabulary_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    folder = marian_folder(tmp_path)
    (folder / "vocab.json").write_text(content)
    with pytest.raises(Refused, match=r"vocab\.json"):
        import_model(folder, tmp_path / "out")


def test_pegasus_after_the_tokens_of_its_pretraining(tmp_path: Path) -> None:
    path = piece_model(tmp_path, "a", first="<pad> </s> <unk>")
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    size = model.get_piece_size()
    network = random_model("pegasus", vocab_size=size + 103, max_position_embeddings=200)
    folder = save(network, tmp_path / "theirs")
    shutil.copy(path, folder / "spiece.model")
    ours = imported(folder, tmp_path / "pieces")
    assert [text for text in TEXTS if ours.encode(text) != [*(id + 103 for id in model.encode(text)), 1]] == []
    assert ours.checkpoint.source_tokenizer.label(3) == "<mask_2>" and ours.encode("<mask_2> a")[0] > 104
    theirs = transformers.PegasusTokenizer.from_pretrained(folder)
    assert theirs.convert_tokens_to_ids("<unk>") == 105 and ours.checkpoint.source_tokenizer.unk_id == 105
    (folder / "tokenizer_config.json").write_text('{"offset": 0}')
    bare = imported(folder, tmp_path / "bare")
    assert bare.encode("hello the world") == [*model.encode("hello the world"), 1]
    (folder / "tokenizer_config.json").write_text('{"offset": "many"}')
    with pytest.raises(Refused, match="offset in tokenizer_config.json"):
        import_model(folder, tmp_path / "other")


def test_blenderbot_begins_with_a_space(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentences(300)), encoding="utf-8")
    trained = tokenizers.ByteLevelBPETokenizer()
    first = ["<pad>", "<s>", "</s>", "<unk>"]
    trained.train([str(text)], vocab_size=330, min_frequency=2, special_tokens=first, show_progress=False)
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    size = trained.get_vocab_size()
    folder = save(random_model("blenderbot", vocab_size=size, max_position_embeddings=300, **ids), tmp_path / "theirs")
    trained.save_model(str(folder))
    theirs = transformers.BlenderbotTokenizer.from_pretrained(folder)
    ours = imported(folder, tmp_path / "out")
    options = {"add_special_tokens": False}
    assert [text for text in TEXTS if [*theirs(text, **options)["input_ids"], 2] != ours.encode(text)] == []
    assert ours.checkpoint.source_tokenizer.label(ours.encode("the girl")[0]).startswith("▁")


@pytest.mark.parametrize(("codes", "languages"), [("base", 3), ("multi", 7)])
def test_plbart_and_its_languages(tmp_path: Path, codes: str, languages: int) -> None:
    path = piece_model(tmp_path, "a")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(path)).get_piece_size()
    size = pieces + 1 + languages + (codes == "base")
    network = random_model("plbart", vocab_size=size, max_position_embeddings=200)
    folder = save(network, tmp_path / "theirs")
    shutil.copy(path, folder / "sentencepiece.bpe.model")
    theirs = transformers.PLBartTokenizer.from_pretrained(folder, language_codes=codes, src_lang="python")
    theirs.save_pretrained(folder)
    asked = examine(folder).questions
    assert [len(question.choices) for question in asked] == [languages, languages]
    ours = imported(folder, tmp_path / "out", source_language="python", target_language="en_XX")
    assert differing(theirs, ours) == []
    english = theirs.convert_tokens_to_ids("__en_XX__")
    assert ours.encode_target("hello")[0] == english == pieces + 3


def word_end_merges(count: int) -> tuple[list[str], list[str]]:
    """Pieces and merges of our sentences, in which the last piece of a word ends in "</w>"."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=count, end_of_word_suffix="</w>", show_progress=False)
    inner.train_from_iterator([text.lower() for text in sentences(300)], trainer)
    model = json.loads(inner.to_str())["model"]
    return list(model["vocab"]), [" ".join(pair) for pair in model["merges"]]


def test_blenderbot_small_and_its_word_ends(tmp_path: Path) -> None:
    pieces, merges = word_end_merges(150)
    tokens = [piece.removesuffix("</w>") if piece.endswith("</w>") else f"{piece}@@" for piece in pieces]
    del tokens[70], tokens[40]  # a merge makes a piece that the vocabulary lacks
    ids = {token: id for id, token in enumerate(["__null__", "__start__", "__end__", "__unk__", *tokens])}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    network = random_model("blenderbot-small", vocab_size=len(ids), max_position_embeddings=300, **special)
    folder = save(network, tmp_path / "theirs")
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    theirs = transformers.BlenderbotSmallTokenizer.from_pretrained(folder)
    ours = imported(folder, tmp_path / "out")
    texts = [*TEXTS, "It's 3.5, (isn't it)?!", "a ... b"]
    assert [text for text in texts if theirs(text, add_special_tokens=False)["input_ids"] != ours.encode(text)] == []
    text = "hello the girl"
    assert ours.checkpoint.target_tokenizer.decode(ours.encode(text)) == theirs.decode(ours.encode(text)) == text


MOSES_TEXTS = [
    "Mr. Smith's dog-house (big & small) costs 1,000.50 $!",
    "“Hello”, she said… isn't it?",
    "a < b | c [d] 'e'",
]
MOSES_TEXTS += [
    "It's 3.5.", "don't", "the U.S. and No. 7 etc.", "a , b", "日本，x", "", "  ", "…", "l'été d'abord",
    "a\u200bb -- c",
]


@pytest.mark.parametrize("source", ["de", "en", "ru"])
def test_fsmt_reads_words_of_moses(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sacremoses")
    pieces, merges = word_end_merges(150)
    first = ["<s>", "<pad>", "</s>", "<unk>"]
    marks = [f"{mark}</w>" for mark in (".", ",", "!", "&apos;s", "&quot;", "(", ")", "&amp;", "n&apos;t", "@-@", "?")]
    vocabularies = ([*first, *marks, *pieces[:-5]], [*first, *marks, *reversed(pieces)])
    sizes = {"src_vocab_size": len(vocabularies[0]), "tgt_vocab_size": len(vocabularies[1])}
    model = random_model(
        "fsmt", max_position_embeddings=300, vocab_size=sizes["tgt_vocab_size"], **sizes, langs=[source, "en"]
    )
    folder = save(model, tmp_path / "theirs")
    for name, tokens in zip(("vocab-src", "vocab-tgt"), vocabularies, strict=True):
        content = json.dumps({token: id for id, token in enumerate(tokens)})
        (folder / f"{name}.json").write_text(content, encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join([*(f"{pair} 7" for pair in merges), ""]), encoding="utf-8")
    theirs = transformers.FSMTTokenizer.from_pretrained(folder, langs=[source, "en"])
    assert not any("Moses" in warning for warning in examine(folder).warnings)
    ours = imported(folder, tmp_path / "out")
    texts = [text for text in (*TEXTS, *MOSES_TEXTS) if text.strip()]
    assert [text for text in texts if theirs(text)["input_ids"] != ours.encode(text)] == []
    target = ours.checkpoint.target_tokenizer
    for text in ("hello, the little girl!", "(the girl) the dog."):
        ids = target.encode(text)
        assert target.decode(ids) == theirs.decode(ids)
    assert [len(group) for group in ours.checkpoint.source_tokenizer.word_groups(ours.encode("a, b")[:-1], "a, b")] == [
        1,
        1,
        1,
    ]
    assert (ours.card["source"], ours.card["target"]) == (NAMES[source], "English")
    saved = tmp_path / "out" / "source_tokenizer.json"
    content = json.loads(saved.read_text())
    for wrong in ({"language": "../../etc"}, {"language": 3}, {}, "de", {"language": "de", "normalizes": 1}, {"x": 1}):
        saved.write_text(json.dumps(content | {"moses": wrong}))
        with pytest.raises(ValueError, match=r"source_tokenizer\.json is not a tokenizer that works here.*Moses"):
            load_translator(tmp_path / "out")
    saved.write_text(json.dumps(content))
    due = ours.encode("hello, the girl")
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    assert any("Moses" in warning for warning in examine(folder).warnings)
    with pytest.raises(ValueError, match="needs sacremoses"):
        load_translator(tmp_path / "out")
    plain = imported(folder, tmp_path / "without")
    assert plain.encode("hello , the girl") == due != plain.encode("hello, the girl")


def bert_folder(folder: Path, encoder: str = "bert", rows: int = 120) -> Path:
    """A pair whose sides have so many tokens; its tokenizer is still to be written."""
    sizes = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 10}
    ids = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config = getattr(transformers, f"{BERTS[encoder]}Config")
    both = [config(vocab_size=rows, **sizes, **ids, hidden_act="gelu") for _ in range(2)]
    joined = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*both)
    return save(transformers.EncoderDecoderModel(joined), folder / "pair")


WORD_PIECES = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]", "##s", "##ing", "##ll", "##o", "##", "##g", "##r", "##l"]
WORD_PIECES += ["the", "walk", "sitt", "he", "été", "ete", "world", "hello", "hell", *"日abcdeghilnorstuwy.,!'"]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("vocab.txt", None), ("vocab.txt", {}), ("vocab.txt", {"do_lower_case": False}),
        ("vocab.txt", {"strip_accents": False}), ("tokenizer.json", None), ("tokenizer.json", {"do_lower_case": False}),
    ],
)  # fmt: skip
def test_word_pieces_are_cut_as_bert_cuts_them(tmp_path: Path, name: str, settings: dict[str, Any] | None) -> None:
    words = tmp_path / "vocab.txt"
    words.write_text("\n".join(dict.fromkeys(WORD_PIECES)) + "\n", encoding="utf-8")
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path, **(settings or {}))
    folder = bert_folder(tmp_path)
    if name == "tokenizer.json":
        theirs.save_pretrained(folder)
    else:
        shutil.copy(words, folder)
        if settings is not None:
            (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "cls_token": {"content": "[CLS]"}}))
    assert not (folder / {"vocab.txt": "tokenizer.json", "tokenizer.json": "vocab.txt"}[name]).exists()
    ours = imported(folder, tmp_path / "out")
    assert differing(theirs, ours) == []
    target = ours.checkpoint.target_tokenizer
    for text in ("hello, walking world!", "the été sitting.", "he 'll"):
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert target.encode(text) == ids
        assert target.decode([*ids, 2]) == theirs.decode(ids)
    ids = target.encode("the walking walks")
    assert [len(group) for group in target.word_groups(ids)] == [1, 2, 2]
    assert not set(target.encode("a [SEP] a [CLS]")) & {0, 2}  # what people type is never a special token


@pytest.mark.parametrize("content", ["", "a\nb\n", "[UNK]\n" + "x" * 2000, b"\xff\xfe", "\n" * 3_000_000])
def test_what_is_no_list_of_word_pieces_is_refused(tmp_path: Path, content: str | bytes) -> None:
    folder = bert_folder(tmp_path)
    (folder / "vocab.txt").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(Refused, match=r"vocab\.txt"):
        import_model(folder, tmp_path / "out")


def test_robertas_texts_begin_and_end_as_theirs(tmp_path: Path) -> None:
    folder = bert_folder(tmp_path, "roberta", 300)
    inner = tokenizers.ByteLevelBPETokenizer()
    inner.train_from_iterator(sentences(200), 300, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    inner.save_model(str(folder))
    theirs = transformers.RobertaTokenizer.from_pretrained(folder)
    assert differing(theirs, imported(folder, tmp_path / "out")) == []
