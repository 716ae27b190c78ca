"""English inflection: regular forms by rule, irregular ones from the lexicon."""

VOWELS = "aeiou"


def article(following: str) -> str:
    """By the letter: the lexicons have no "hour" and no "university"."""
    return "an" if following[0].lower() in VOWELS else "a"


def plural(noun: str) -> str:
    """ "city" as "cities", "box" as "boxes"."""
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def third_person(verb: str) -> str:
    """ "carry" as "carries", "go" as "goes"."""
    return f"{verb}es" if verb.endswith("o") else plural(verb)


def past(verb: str) -> str:
    """ "carry" as "carried", "love" as "loved"."""
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return f"{verb[:-1]}ied"
    return verb + ("d" if verb.endswith("e") else "ed")
