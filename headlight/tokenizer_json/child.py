"""The program of the child process: opens a tokenizer from its standard input, with limited memory and time.

Python starts without site-packages, so the first argument is the folder of the tokenizers library. The limits are set
before anything untrusted is read.
"""

import contextlib
import sys

with contextlib.suppress(ImportError):  # no such thing on Windows
    import resource

MAX_MEMORY_BYTES = 2**31  # bytes; a unigram model of 250,000 pieces takes 1,300 million to open
MAX_SECONDS = 30  # of CPU time; that model takes 3 to 5
TRIAL_SENTENCES = (
    "",
    "a \ue000",  # a character in no vocabulary
    "The quick brown fox, 1,234.5 times: «jumps» over the lazy dog's back!?  (Twice.)\n\tÅngström, œuvre — ½ 😀",
    "Быстрая лиса. Η γρήγορη αλεπού. הַשּׁוּעָל الثعلب السريع तेज़ लोमड़ी 敏捷的狐狸 キツネが 여우가 ﷺ ﬁ a\u0301\u0302\u0303",
    *(character * 1_000 for character in "aA1 .'▁\n\ue000ﷺ"),
    "ab" * 500,
    " a" * 500,
)


def limit_resources() -> None:
    limits = {
        "RLIMIT_AS": MAX_MEMORY_BYTES,
        "RLIMIT_CPU": MAX_SECONDS,
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NPROC": 0,
    }
    for name, limit in limits.items():
        with contextlib.suppress(NameError, AttributeError, ValueError, OSError):  # not every system has them all
            resource.setrlimit(getattr(resource, name), (limit, limit))


def fault(text: str) -> str:
    """Return what is wrong with the tokenizer, or "". It may refuse a text, but not crash."""
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_str(text)
        tokenizer.encode_special_tokens = True
        tokenizer.to_str()
        for added in tokenizer.get_added_tokens_decoder().values():
            rewriting = tokenizer.normalizer if added.normalized else None
            if rewriting is not None and not rewriting.normalize_str(added.content):
                return f"its added token {added.content!r} becomes nothing"  # the library would match it forever
    except BaseException as error:  # Rust's panics are no Exception
        return str(error)[:500] or type(error).__name__
    n_tokens = tokenizer.get_vocab_size()
    own = [token for id in range(min(n_tokens, 200)) if (token := tokenizer.id_to_token(id)) is not None]
    for sentence in (*TRIAL_SENTENCES, " ".join(own), "".join(own)):
        try:
            tokenizer.decode(tokenizer.encode(sentence, add_special_tokens=False).ids, skip_special_tokens=False)
        except Exception:
            continue
        except BaseException as error:
            return f"it fails at a text: {error}"[:500]
    for ids in ([], list(range(min(n_tokens, 2_000))), list(range(max(n_tokens - 200, 0), n_tokens))):
        try:
            tokenizer.decode(ids, skip_special_tokens=False)
        except BaseException as error:
            return f"it fails at its own tokens: {error}"[:500]
    return ""


if __name__ == "__main__":
    limit_resources()
    sys.path.append(sys.argv[1])
    wrong = fault(sys.stdin.buffer.read().decode("utf-8"))
    sys.stdout.buffer.write(f"tried{wrong}".encode("utf-8", "replace"))
