"""Languages as tokens of multilingual models, and the ids around a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from headlight.importers.questions import ImportQuestion

# In the order of their ids, which are in the code of these families only (transformers/models/*/tokenization_*).
MBART = (
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
)
MBART_50 = (
    f"{MBART} af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE "
    "sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI"
)
M2M100 = (
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"
)
PLBART = "java python en_XX"
PLBART_MULTI = f"{PLBART} javascript php ruby go"

# What people call the languages that most files name by two letters.
_LANGUAGE_NAMES = (
    "ar:Arabic bg:Bulgarian ca:Catalan cs:Czech da:Danish de:German el:Greek en:English eo:Esperanto es:Spanish "
    "et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish gl:Galician he:Hebrew hi:Hindi hr:Croatian "
    "hu:Hungarian hy:Armenian id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian ko:Korean la:Latin "
    "lt:Lithuanian lv:Latvian mk:Macedonian mt:Maltese nl:Dutch no:Norwegian pl:Polish pt:Portuguese ro:Romanian "
    "ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil th:Thai tl:Tagalog "
    "tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese"
)
NAMES = dict(pair.split(":") for pair in _LANGUAGE_NAMES.split())

Languages = Mapping[str, int]  # the id of each, by the name that people choose


class Around(NamedTuple):
    """The ids around a sentence, as the fields of `ModelConfig`."""

    sos_id: int
    source_start: tuple[int, ...] = ()
    source_end: tuple[int, ...] | None = None
    target_start: tuple[int, ...] = ()


def about_language(side: str, languages: Languages, usual: object, required: bool = True) -> ImportQuestion:
    """Ask for the language of `side`, "source" or "target"."""
    verb = "read" if side == "source" else "write"
    why = f"It knows {len(languages)}, and a token beside the sentence says which one it is to {verb}."
    if not required:
        why += " Without an answer, begin each sentence with it yourself, as in >>fra<<."
    return ImportQuestion(
        f"{side}_language",
        f"Which language should it {verb}?",
        why,
        choices=tuple(languages),
        usual=usual if isinstance(usual, str) and usual in languages else None,
        required=required,
    )
