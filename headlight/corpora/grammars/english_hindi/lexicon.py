"""The words of the English-Hindi grammar, and which of them go together.

A *kind* groups nouns by what can be said of them: a verb names the kinds of its subject and object, an adjective the
kinds that it describes; a noun's own name is a kind too. So "old" is बूढ़ा of an adult and पुराना of a thing, and nobody
eats a chair.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from headlight.corpora import english as english_inflection
from headlight.corpora.grammars.hindi import BE, Gender, Stem, noun_form

# Nouns


@cache
def _set(kinds: str) -> frozenset[str]:
    return frozenset(kinds.split())


@dataclass(frozen=True)
class HindiNoun:
    """A noun; `plural` is None where it cannot be counted, such as water or Hindi."""

    english: str
    plural: str | None
    hindi: str
    gender: Gender
    kinds: frozenset[str]  # its own name among them

    def is_any(self, kinds: str) -> bool:
        return not self.kinds.isdisjoint(_set(kinds))

    def form(self, plural: bool, oblique: bool) -> str:
        return noun_form(self.hindi, self.gender, plural, oblique, "fixed" in self.kinds)


# english[/plural] hindi gender kinds: "-" is no plural, "honoured" speaks of one person in the plural.
_NOUNS = """
boy            लड़का      m  person youth wild
girl           लड़की      f  person youth wild
child/children बच्चा      m  person youth
man/men        आदमी      m  person adult wild
woman/women    औरत       f  person adult wild
farmer         किसान      m  person adult job wild
doctor         डॉक्टर     m  person adult job
teacher        शिक्षक     m  person adult job
student        छात्र      m  person job
singer         गायक      m  person adult job wild
writer         लेखक      m  person adult job wild
soldier        सैनिक      m  person adult job wild
gardener       माली      m  person adult
nurse          नर्स       f  person adult wild
king           राजा      m  person adult fixed wild
thief/thieves  चोर       m  adult wild
queen          रानी      f  person adult wild
guest          मेहमान     m  person
friend         दोस्त      m  person kin
neighbour      पड़ोसी     m  person kin
brother        भाई       m  kin relative
sister         बहन       f  kin relative
son            बेटा       m  kin relative
daughter       बेटी       f  kin relative
father/-       पिताजी     m  honoured
mother/-       माँ        f  honoured
grandfather/-  दादाजी     m  honoured
grandmother/-  दादी      f  honoured

dog            कुत्ता      m  animal beast pet
cat            बिल्ली     f  animal beast pet
cow            गाय       f  animal beast pet
horse          घोड़ा      m  animal beast pet
elephant       हाथी      m  animal beast wild
monkey         बंदर       m  animal beast wild
lion           शेर        m  animal beast wild
goat           बकरी      f  animal beast pet
mouse/mice     चूहा       m  animal beast wild
rabbit         ख़रगोश     m  animal beast pet
camel          ऊँट        m  animal beast wild
parrot         तोता       m  animal pet
bear           भालू       m  animal beast wild
bird           चिड़िया     f  animal wild

mango/mangoes          आम       m  food fruit
apple          सेब        m  food fruit
banana         केला      m  food fruit
orange         संतरा      m  food fruit
guava          अमरूद     m  food fruit
potato/potatoes         आलू       m  food vegetable
tomato/tomatoes         टमाटर     m  food vegetable
carrot         गाजर      f  food vegetable
vegetable      सब्ज़ी      f  food vegetable
chapati        रोटी       f  food cooked
samosa         समोसा     m  food cooked
pizza/-        पिज़्ज़ा     m  food cooked
rice/-         चावल      m  food cooked
egg            अंडा       m  food cooked
sweet          मिठाई      f  food
biscuit        बिस्कुट     m  food
water/-        पानी       m  drink cold
milk/-         दूध        m  drink cold warm
tea/-          चाय       f  drink warm
coffee/-       कॉफ़ी      f  drink warm
juice/-        रस        m  drink cold
lassi/-        लस्सी      f  drink cold

book           किताब     f  text goods
letter         चिट्ठी      f  text written
story          कहानी     f  text written told
poem           कविता     f  text written told
newspaper      अख़बार     m  text
magazine       पत्रिका    f  text goods
film           फ़िल्म      f  show wild
play           नाटक      m  show wild
match          मैच        m  show wild
song           गीत       m  tune
music/-        संगीत      m  music
cricket/-      क्रिकेट     m  game
football/-     फ़ुटबॉल     m  game
hockey/-       हॉकी      f  game
Hindi/-        हिंदी      f  language
English/-      अंग्रेज़ी    f  language
Urdu/-         उर्दू       f  language
Tamil/-        तमिल      f  language
Punjabi/-      पंजाबी     f  language

table          मेज़       f  goods heavy hard
chair          कुर्सी      f  goods heavy hard
bag            थैला       m  goods heavy coloured
box            डिब्बा     m  goods heavy
basket         टोकरी     f  goods heavy
key            चाबी      f  small
watch          घड़ी       f  goods small
toy            खिलौना    m  goods coloured
picture        तस्वीर     f  goods
shirt          क़मीज़     f  goods coloured cloth
sari           साड़ी      f  goods coloured cloth
hat            टोपी      f  goods coloured cloth
blanket        कंबल      m  goods coloured cloth
shoe           जूता       m  goods coloured cloth
ring           अँगूठी     f  goods small
necklace       हार       m  goods
gift           तोहफ़ा     m  goods
phone          फ़ोन      m  goods small
umbrella       छाता      m  goods coloured
ball           गेंद       f  goods coloured
glass          गिलास     m  goods dish
plate          थाली      f  goods dish
cup            प्याला     m  goods dish
bottle         बोतल      f  goods dish
knife/knives   चाकू       m  goods dish
mirror         शीशा      m  goods
pencil         पेंसिल     f  goods coloured small
flower         फूल       m  coloured
rope           रस्सी      f  goods hard
car            कार       f  goods coloured vehicle
bicycle        साइकिल    f  goods coloured vehicle
bus            बस        f  vehicle wild
train          ट्रेन       f  vehicle wild
boat           नाव       f  vehicle goods

house          घर        m  building rooms
school         स्कूल      m  building
temple         मंदिर      m  building wild
shop           दुकान      f  building
hospital       अस्पताल   m  building wild
library        पुस्तकालय m  building
palace         महल       m  building wild
hotel          होटल      m  building wild
office         दफ़्तर     m  building rooms
station        स्टेशन     m  building wild
room           कमरा      m  inside rooms
kitchen        रसोई      f  inside rooms
door           दरवाज़ा    m  opening
window         खिड़की    f  opening
roof           छत        f  inside
bed            बिस्तर     m  inside
garden         बग़ीचा     m  outside
field          खेत       m  outside
forest         जंगल      m  outside wild
village        गाँव       m  outside
city           शहर       m  outside
market         बाज़ार     m  outside wild
road           सड़क      f  way wild
bridge         पुल       m  way wild
river          नदी       f  way wild
tree           पेड़       m  high
mountain       पहाड़      m  high wild
"""


def _noun(line: str) -> HindiNoun:
    names, hindi, gender, *kinds = line.split()
    english, _, plural = names.partition("/")
    many = None if plural == "-" else plural or english_inflection.pluralize(english)
    return HindiNoun(english, many, hindi, "f" if gender == "f" else "m", frozenset([english, *kinds]))


NOUNS = tuple(_noun(line) for line in _NOUNS.splitlines() if line)


@cache
def nouns(kinds: str) -> tuple[HindiNoun, ...]:
    """Return the nouns of any of the `kinds`, which are set apart by spaces."""
    return tuple(noun for noun in NOUNS if noun.is_any(kinds))


# The professions of women: "Sita is a teacher" is शिक्षिका, "the teacher" शिक्षक.
FEMALE_PROFESSIONS = {
    "teacher": "शिक्षिका", "student": "छात्रा", "singer": "गायिका", "writer": "लेखिका",
}  # fmt: skip

MEN_NAMES = {
    "Ram": "राम", "Mohan": "मोहन", "Ravi": "रवि", "Amit": "अमित", "Arjun": "अर्जुन", "Vijay": "विजय", "Rahul": "राहुल",
    "Anil": "अनिल", "Gopal": "गोपाल", "Suresh": "सुरेश",
}  # fmt: skip
WOMEN_NAMES = {
    "Sita": "सीता", "Gita": "गीता", "Radha": "राधा", "Meera": "मीरा", "Anita": "अनीता", "Priya": "प्रिया", "Neha": "नेहा",
    "Sunita": "सुनीता", "Anjali": "अंजलि", "Deepa": "दीपा",
}  # fmt: skip
CITIES = {
    "Delhi": "दिल्ली", "Mumbai": "मुंबई", "Jaipur": "जयपुर", "Kolkata": "कोलकाता", "Varanasi": "वाराणसी", "Agra": "आगरा",
}  # fmt: skip
NUMBERS = {
    "two": "दो", "three": "तीन", "four": "चार", "five": "पाँच", "six": "छह", "seven": "सात", "eight": "आठ", "nine": "नौ",
    "ten": "दस",
}  # fmt: skip


class Adpositions(NamedTuple):
    """The preposition and the postposition that a noun takes where something happens."""

    preposition: str
    postposition: str


IN, ON = Adpositions("in", "में"), Adpositions("on", "पर")
PLACES = {
    **dict.fromkeys(
        ("house", "temple", "shop", "hospital", "library", "palace", "hotel", "office", "room", "kitchen", "garden",
         "field", "forest", "village", "city", "market", "river", "car", "boat"), IN,
    ),
    **dict.fromkeys(("roof", "bed", "road", "bridge", "table", "chair", "mountain"), ON),
    "school": Adpositions("at", "में"), "station": Adpositions("at", "पर"),
}  # fmt: skip


# Adjectives


@dataclass(frozen=True)
class Adjective:
    """An adjective; `comparative` is "" where it has none. Some stand only before their noun, or only after "is"."""

    english: str
    comparative: str
    hindi: str
    kinds: str
    attributive: bool = True
    predicative: bool = True

    @property
    def has_degrees(self) -> bool:
        """Whether it goes with "very"."""
        return bool(self.comparative) or "kin" in self.kinds.split()


_SPACES = "building inside outside"
ADJECTIVES = (
    Adjective("good", "better", "अच्छा", "person kin food drink text show music goods building"),
    Adjective("bad", "", "बुरा", "person"),
    Adjective("bad", "", "ख़राब", "fruit vegetable milk show"),
    Adjective("old", "older", "बूढ़ा", "adult animal grandfather grandmother"),
    Adjective("old", "older", "पुराना", f"goods text film play song vehicle {_SPACES} way tree opening"),
    Adjective("new", "newer", "नया", "goods text film play song vehicle building opening"),
    Adjective("big", "bigger", "बड़ा", f"animal fruit vegetable samosa goods vehicle {_SPACES} opening tree river"),
    Adjective("small", "smaller", "छोटा", f"youth animal fruit vegetable samosa goods vehicle {_SPACES} opening river"),
    Adjective("tall", "taller", "लंबा", "person kin honoured"),
    Adjective("tall", "taller", "ऊँचा", "tree palace"),
    Adjective("high", "higher", "ऊँचा", "mountain bridge"),
    Adjective("long", "longer", "लंबा", "text film play rope road river bridge train"),
    Adjective("short", "shorter", "छोटा", "text film play song rope"),
    Adjective("wide", "wider", "चौड़ा", "way door"),
    Adjective("narrow", "narrower", "सँकरा", "road bridge"),
    Adjective("deep", "deeper", "गहरा", "river"),
    Adjective("fat", "fatter", "मोटा", "adult youth animal"),
    Adjective("thin", "thinner", "दुबला", "adult youth animal"),
    Adjective("beautiful", "more beautiful", "सुंदर",
              f"girl woman queen horse cow cat rabbit parrot bird cloth watch toy picture ring necklace gift car "
              f"flower {_SPACES} river mountain song"),
    Adjective("clever", "cleverer", "होशियार", "person kin dog monkey"),
    Adjective("brave", "braver", "बहादुर", "person kin lion"),
    Adjective("honest", "more honest", "ईमानदार", "person kin"),
    Adjective("lazy", "lazier", "आलसी", "person kin cat"),
    Adjective("rich", "richer", "अमीर", "man woman farmer doctor singer writer king queen kin"),
    Adjective("poor", "poorer", "ग़रीब", "man woman farmer singer writer gardener youth student neighbour"),
    Adjective("famous", "more famous", "मशहूर",
              "doctor singer writer teacher king queen book newspaper magazine film play song temple palace "
              "library hospital hotel city"),
    Adjective("strong", "stronger", "ताक़तवर", "person dog horse elephant lion bear camel cow"),
    Adjective("strong", "stronger", "मज़बूत", "hard door"),
    Adjective("weak", "weaker", "कमज़ोर", "person animal"),
    Adjective("sick", "", "बीमार", "person kin honoured animal"),
    Adjective("sad", "", "उदास", "person kin honoured"),
    Adjective("tired", "", "थका हुआ", "person kin honoured animal"),
    Adjective("happy", "", "ख़ुश", "person kin honoured", attributive=False),
    Adjective("angry", "", "नाराज़", "person kin honoured", attributive=False),
    Adjective("busy", "", "व्यस्त", "person kin honoured", attributive=False),
    Adjective("hungry", "", "भूखा", "youth animal", predicative=False),
    Adjective("thirsty", "", "प्यासा", "animal", predicative=False),
    Adjective("black", "", "काला", "coloured dog cat cow goat horse"),
    Adjective("white", "", "सफ़ेद", "coloured dog cat cow goat horse rabbit"),
    Adjective("brown", "", "भूरा", "dog horse bear"),
    Adjective("red", "", "लाल", "coloured"),
    Adjective("blue", "", "नीला", "coloured"),
    Adjective("green", "", "हरा", "coloured parrot"),
    Adjective("yellow", "", "पीला", "coloured"),
    Adjective("tasty", "tastier", "स्वादिष्ट", "food milk tea coffee juice lassi"),
    Adjective("sweet", "sweeter", "मीठा", "fruit milk tea coffee juice lassi"),
    Adjective("sour", "", "खट्टा", "mango orange lassi"),
    Adjective("fresh", "", "ताज़ा", "fruit vegetable milk juice"),
    Adjective("raw", "", "कच्चा", "mango banana guava potato tomato"),
    Adjective("hot", "hotter", "गर्म", "cooked warm"),
    Adjective("cold", "colder", "ठंडा", "cooked drink"),
    Adjective("cheap", "cheaper", "सस्ता", "goods fruit vegetable"),
    Adjective("expensive", "more expensive", "महँगा", "goods fruit hotel"),
    Adjective("heavy", "heavier", "भारी", "heavy blanket"),
    Adjective("light", "lighter", "हल्का", "heavy blanket"),
    Adjective("clean", "cleaner", "साफ़", "cloth dish rooms road river hospital station city water"),
    Adjective("dirty", "dirtier", "गंदा", "cloth dish rooms road river station city water"),
    Adjective("empty", "", "ख़ाली", "rooms bag box basket glass bottle cup bus train"),
    Adjective("broken", "", "टूटा हुआ", "chair toy mirror cup glass", attributive=False),
    Adjective("interesting", "more interesting", "दिलचस्प", "text show"),
    Adjective("difficult", "more difficult", "कठिन", "book poem game language"),
    Adjective("easy", "easier", "आसान", "book poem game language"),
    Adjective("fast", "faster", "तेज़", "horse train car boat"),
    Adjective("dangerous", "more dangerous", "ख़तरनाक", "lion bear elephant forest road"),
)  # fmt: skip


# Verbs


@dataclass(frozen=True)
class HindiVerb:
    """A verb in both languages with what may stand around it.

    `english` is base, third person, past, participle, -ing. `nominal` is the word that makes a verb with करना; where
    it has a gender, it is the object that the verb agrees with (मदद की), otherwise it is an adjective (साफ़ किया).
    """

    english: tuple[str, str, str, str, str]
    stem: Stem
    subjects: str = "person"  # kinds
    objects: str = ""  # kinds
    preposition: str = ""  # between the English verb and its object
    marker: str = ""  # the postposition of the object; "को" only on people and animals
    nominal: str = ""
    nominal_gender: Gender | None = None
    ergative: bool = True  # takes ने in the perfective
    never: str = ""  # groups of tenses in which it is not used
    receiver: bool = False  # takes "to somebody"
    places: str = ""  # nouns of PLACES where it happens
    takes: str = ""  # further phrases: "to", "from", "by", "with", "for", "in" a city

    @property
    def base(self) -> str:
        return self.english[0]


def _verb(english: str, hindi: str, **more: object) -> HindiVerb:
    base, third, past, participle, ing = english.split()
    return HindiVerb((base, third, past, participle, ing), Stem(hindi), **more)  # type: ignore[arg-type]


_OUTDOOR_PLACES = "garden field road forest village"
_SHOPS = "market shop city"
_ROOMS = "room kitchen house garden"
_PEOPLE = "person kin honoured"
VERBS = (
    # Without an object, and without ने
    _verb("sleep sleeps slept slept sleeping", "सो", subjects=f"{_PEOPLE} animal", ergative=False,
          places="room bed roof garden house"),
    _verb("laugh laughs laughed laughed laughing", "हँस", subjects=_PEOPLE, ergative=False,
          places="room garden school"),
    _verb("cry cries cried cried crying", "रो", subjects=_PEOPLE, ergative=False, places="room garden school"),
    _verb("run runs ran run running", "दौड़", subjects="person kin beast", ergative=False, places=_OUTDOOR_PLACES),
    _verb("swim swims swam swum swimming", "तैर", subjects="person kin", ergative=False, places="river"),
    _verb("dance dances danced danced dancing", "नाच", subjects="person kin", ergative=False,
          places="garden room temple", takes="with"),
    _verb("sit sits sat sat sitting", "बैठ", subjects=f"{_PEOPLE} animal", ergative=False, never="progressive",
          places="chair bed roof garden room"),
    _verb("walk walks walked walked walking", "चल", subjects=f"{_PEOPLE} beast", ergative=False,
          places="road bridge", takes="with"),
    _verb("bathe bathes bathed bathed bathing", "नहा", subjects=f"{_PEOPLE} elephant", ergative=False,
          places="river"),
    _verb("live lives lived lived living", "रह", subjects=_PEOPLE, ergative=False,
          never="progressive modal perfective", places="house city village palace hotel", takes="with in"),
    _verb("go goes went gone going", "जा", subjects=_PEOPLE, ergative=False, takes="to by with"),
    _verb("come comes came come coming", "आ", subjects=_PEOPLE, ergative=False, takes="from by with"),
    _verb("return returns returned returned returning", "लौट", subjects=_PEOPLE, ergative=False,
          takes="from by"),
    # With करना and a noun
    _verb("work works worked worked working", "कर", subjects=_PEOPLE, nominal="काम", nominal_gender="m",
          places="field garden office hospital kitchen shop", takes="with"),
    _verb("rest rests rested rested resting", "कर", subjects=f"{_PEOPLE} animal", nominal="आराम",
          nominal_gender="m",
          places="room bed garden house"),
    _verb("travel travels travelled travelled travelling", "कर", subjects=_PEOPLE, nominal="यात्रा",
          nominal_gender="f",
          takes="by with"),
    # Things
    _verb("eat eats ate eaten eating", "खा", subjects=_PEOPLE, objects="food", places=_ROOMS, takes="with"),
    _verb("eat eats ate eaten eating", "खा", objects="fruit vegetable chapati", places=_OUTDOOR_PLACES,
          subjects="cow horse goat monkey rabbit camel elephant mouse bear parrot bird"),
    _verb("drink drinks drank drunk drinking", "पी", subjects=_PEOPLE, objects="drink", places=_ROOMS,
          takes="with"),
    _verb("drink drinks drank drunk drinking", "पी", subjects="animal", objects="water milk",
          places="river house"),
    _verb("read reads read read reading", "पढ़", subjects=_PEOPLE, objects="text",
          places="room library garden school"),
    _verb("write writes wrote written writing", "लिख", subjects=_PEOPLE, objects="written",
          places="room library"),
    _verb("buy buys bought bought buying", "ख़रीद", subjects=_PEOPLE, objects="goods food flower", places=_SHOPS,
          takes="for"),
    _verb("sell sells sold sold selling", "बेच", objects="goods fruit vegetable flower", places=_SHOPS),
    _verb("bring brings brought brought bringing", "ला", subjects=_PEOPLE, objects="goods food drink flower",
          ergative=False, takes="for"),
    _verb("cook cooks cooked cooked cooking", "पका", subjects=_PEOPLE, objects="rice vegetable",
          places="kitchen",
          takes="for"),
    _verb("make makes made made making", "बना", subjects=_PEOPLE,
          objects="chapati samosa pizza tea coffee lassi toy",
          places="kitchen room", takes="for"),
    _verb("cut cuts cut cut cutting", "काट", subjects=_PEOPLE, objects="fruit vegetable rope",
          places="kitchen garden"),
    _verb("wash washes washed washed washing", "धो", subjects=_PEOPLE, objects="cloth dish car",
          places="river house"),
    _verb("open opens opened opened opening", "खोल", subjects=_PEOPLE, objects="opening box bottle shop"),
    _verb("close closes closed closed closing", "कर", subjects=_PEOPLE, objects="opening box shop",
          nominal="बंद"),
    _verb("clean cleans cleaned cleaned cleaning", "कर", subjects=_PEOPLE, objects="rooms road roof",
          nominal="साफ़"),
    _verb("break breaks broke broken breaking", "तोड़", subjects="youth thief monkey",
          objects="toy mirror cup glass chair"),
    _verb("lift lifts lifted lifted lifting", "उठा", objects="heavy"),
    _verb("watch watches watched watched watching", "देख", subjects=_PEOPLE, objects="show", places="room house",
          takes="with"),
    _verb("sing sings sang sung singing", "गा", subjects=_PEOPLE, objects="song", places="temple garden room"),
    _verb("listen listens listened listened listening", "सुन", subjects=_PEOPLE, objects="music song told",
          preposition="to",
          places="room garden", takes="with"),
    _verb("play plays played played playing", "खेल", subjects="youth student kin", objects="game",
          places="garden field road school", takes="with"),
    _verb("learn learns learned learned learning", "सीख", subjects="person kin", objects="language",
          places="school"),
    _verb("speak speaks spoke spoken speaking", "बोल", subjects=_PEOPLE, objects="language",
          never="perfective",
          places="house school office"),
    # Things, people and animals
    _verb("see sees saw seen seeing", "देख", subjects=f"{_PEOPLE} animal", never="progressive", marker="को",
          objects="person kin animal building high river goods flower", places="road garden city market"),
    _verb("look looks looked looked looking", "ढूँढ़", subjects=_PEOPLE, preposition="for", marker="को",
          objects="small book letter shoe bag umbrella ball youth kin dog cat goat"),
    # People and animals
    _verb("call calls called called calling", "बुला", subjects=_PEOPLE, objects="person kin honoured dog",
          marker="को"),
    _verb("teach teaches taught taught teaching", "पढ़ा", subjects="teacher kin honoured writer",
          objects="youth student kin",
          marker="को", places="school house library"),
    _verb("catch catches caught caught catching", "पकड़", subjects="person", objects="thief goat rabbit parrot",
          marker="को", places="forest market road"),
    _verb("catch catches caught caught catching", "पकड़", subjects="cat lion dog", objects="mouse rabbit bird",
          marker="को"),
    _verb("forgive forgives forgave forgiven forgiving", "कर", subjects=_PEOPLE, objects="person kin",
          marker="को",
          nominal="माफ़", never="progressive"),
    _verb("help helps helped helped helping", "कर", subjects=_PEOPLE, objects=f"{_PEOPLE} animal", marker="का",
          nominal="मदद", nominal_gender="f"),
    _verb("praise praises praised praised praising", "कर", subjects=_PEOPLE, objects="person kin honoured",
          marker="का",
          nominal="तारीफ़", nominal_gender="f"),
    _verb("wait waits waited waited waiting", "कर", subjects=_PEOPLE, objects="person kin honoured bus train",
          preposition="for", marker="का", nominal="इंतज़ार", nominal_gender="m", places="station school market garden"),
    _verb("chase chases chased chased chasing", "कर", subjects="dog cat lion youth soldier",
          objects="mouse rabbit goat parrot bird cat dog thief",
          marker="का", nominal="पीछा", nominal_gender="m", places=_OUTDOOR_PLACES),
    _verb("meet meets met met meeting", "मिल", subjects=_PEOPLE, objects=_PEOPLE, marker="से", ergative=False,
          never="progressive", places="market garden temple station hotel"),
    _verb("talk talks talked talked talking", "कर", subjects=_PEOPLE, objects=_PEOPLE, preposition="to",
          marker="से",
          nominal="बात", nominal_gender="f", places="room garden market temple"),
    _verb("love loves loved loved loving", "कर", subjects=_PEOPLE,
          objects="kin honoured youth dog cat cow horse",
          marker="से", nominal="प्यार", nominal_gender="m", never="progressive modal"),
    _verb("fear fears feared feared fearing", "डर", subjects="person kin animal",
          objects="lion bear elephant",
          marker="से", ergative=False, never="progressive modal perfective"),
    # Something to somebody
    _verb("give gives gave given giving", "दे", subjects=_PEOPLE, objects="goods fruit drink flower letter key",
          receiver=True),
    _verb("show shows showed shown showing", "दिखा", subjects=_PEOPLE, objects="goods letter rooms",
          receiver=True),
    _verb("send sends sent sent sending", "भेज", subjects=_PEOPLE,
          objects="gift book letter flower sweet picture sari",
          receiver=True),
    _verb("tell tells told told telling", "सुना", subjects=_PEOPLE, objects="told", receiver=True),
    _verb("teach teaches taught taught teaching", "सिखा", subjects="teacher kin honoured writer",
          objects="language",
          receiver=True, places="school house"),
)  # fmt: skip


class MarkedVerb(NamedTuple):
    """An English verb whose subject takes a postposition in Hindi: मुझे पिज़्ज़ा पसंद है, "I like pizza"."""

    english: tuple[str, ...]  # base, third person, past, participle and -ing
    stem: Stem = BE
    marker: str = "को"
    nominal: str = ""


_HAVE, _KNOW = ("have", "has", "had", "had", "having"), ("know", "knows", "knew", "known", "knowing")
LIKE = MarkedVerb(("like", "likes", "liked", "liked", "liking"), nominal="पसंद")
WANT = MarkedVerb(("want", "wants", "wanted", "wanted", "wanting"))
SUFFER, OWN, HAVE_FAMILY = MarkedVerb(_HAVE), MarkedVerb(_HAVE, marker="के पास"), MarkedVerb(_HAVE, marker="")
KNOW_LANGUAGE, KNOW_THAT = MarkedVerb(_KNOW, Stem("आ")), MarkedVerb(_KNOW, Stem("जान"), "")
SAY = MarkedVerb(("say", "says", "said", "said", "saying"), Stem("कह"), "")
THINK = MarkedVerb(("think", "thinks", "thought", "thought", "thinking"), Stem("लग"))


class Feeling(NamedTuple):
    """A feeling that "comes" to somebody in Hindi: मुझे भूख लगी है, "I am hungry"."""

    hindi: str
    gender: Gender
    stem: Stem
    progressive: bool  # ठंड लग रही है, but भूख लगी है


_COME, _ATTACH = Stem("आ"), Stem("लग")
FEELINGS = {
    "hungry": Feeling("भूख", "f", _ATTACH, False),
    "thirsty": Feeling("प्यास", "f", _ATTACH, False),
    "cold": Feeling("ठंड", "f", _ATTACH, True),
    "afraid": Feeling("डर", "m", _ATTACH, True),
    "sleepy": Feeling("नींद", "f", _COME, True),
}
ILLNESSES: dict[str, tuple[str, Gender]] = {
    "fever": ("बुख़ार", "m"), "cold": ("ज़ुकाम", "m"), "cough": ("खाँसी", "f"), "headache": ("सिरदर्द", "m"),
}  # fmt: skip


# Fixed phrases


class Fixed(NamedTuple):
    """A fixed phrase; `links` are "0-0 2-1": index of the English word, index of the Hindi word."""

    english: str
    hindi: str
    links: str


HOME, AT_HOME = Fixed("home", "घर", "0-0"), Fixed("at home", "घर पर", "0-1 1-0")
VEHICLES = (
    Fixed("by train", "ट्रेन से", "0-1 1-0"), Fixed("by bus", "बस से", "0-1 1-0"), Fixed("by car", "कार से", "0-1 1-0"),
)  # fmt: skip

_DAYS = tuple(
    Fixed(f"on {english}", f"{hindi} को", "0-1 1-0")
    for english, hindi in zip(
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        ["सोमवार", "मंगलवार", "बुधवार", "गुरुवार", "शुक्रवार", "शनिवार", "रविवार"],
        strict=True,
    )
)
_MONTHS = tuple(
    Fixed(f"in {english}", f"{hindi} में", "0-1 1-0")
    for english, hindi in zip(
        ("January", "March", "April", "May", "June", "July", "August", "December"),
        ["जनवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "दिसंबर"],
        strict=True,
    )
)
_HOURS = (
    Fixed("in the morning", "सुबह", "0-0 2-0"),
    Fixed("in the afternoon", "दोपहर को", "0-1 2-0"),
    Fixed("in the evening", "शाम को", "0-1 2-0"),
    Fixed("at night", "रात को", "0-1 1-0"),
)
_HABIT_TIMES = tuple(
    Fixed(f"every {english}", f"हर {hindi}", "0-0 1-1")
    for english, hindi in {"day": "दिन", "week": "हफ़्ते", "month": "महीने", "year": "साल"}.items()
)
_YESTERDAY, _TODAY = Fixed("yesterday", "कल", "0-0"), Fixed("today", "आज", "0-0")
_TOMORROW, _NOW = Fixed("tomorrow", "कल", "0-0"), Fixed("now", "अभी", "0-0")
_TIMES_AGO = tuple(
    Fixed(f"{number} {english} ago", f"{NUMBERS[number]} {hindi} पहले", "0-0 1-1 2-2")
    for number in NUMBERS
    for english, hindi in {"days": "दिन", "weeks": "हफ़्ते", "months": "महीने", "years": "साल"}.items()
)
_PERIODS = {"week": "हफ़्ते", "month": "महीने", "year": "साल"}
_LAST_PERIODS, _NEXT_PERIODS = (
    tuple(Fixed(f"{english} {period}", f"{hindi} {_PERIODS[period]}", "0-0 1-1") for period in _PERIODS)
    for english, hindi in (("last", "पिछले"), ("next", "अगले"))
)
# For each tense, the sets of times that go with it.
TIMES: dict[str, tuple[tuple[Fixed, ...], ...]] = {
    "present": (_HABIT_TIMES[:1], _HABIT_TIMES, _HOURS),
    "past habit": (_HABIT_TIMES[:1], _HABIT_TIMES, _HOURS),
    "progressive": ((_NOW,),),
    "past progressive": ((_YESTERDAY,), _HOURS),
    "past": ((_YESTERDAY,), (_TODAY,), _LAST_PERIODS, _TIMES_AGO, _DAYS, _MONTHS, _HOURS),
    "perfect": ((_TODAY,),),
    "future": ((_TOMORROW,), (_TODAY,), _NEXT_PERIODS, _DAYS, _MONTHS, _HOURS),
    "can": ((_TODAY,), (_TOMORROW,)),
    "should": ((_TODAY,), (_TOMORROW,), _DAYS),
    "want": ((_TODAY,), (_TOMORROW,)),
    "have to": ((_TODAY,), (_TOMORROW,), _DAYS),
}
FREQUENCIES = {"always": "हमेशा", "often": "अक्सर", "never": "कभी"}

# Reasons


# For each verb, the qualities of the object that are reasons to do it, and reasons not to.
OBJECT_REASONS = {
    "buy": ("cheap beautiful new fresh sweet", "expensive old broken heavy raw sour"),
    "eat": ("tasty sweet fresh hot", "sour raw cold bad"),
    "drink": ("tasty sweet fresh hot", "dirty sour bad"),
    "read": ("interesting short easy", "difficult long"),
    "watch": ("interesting famous", "long bad"),
    "wash": ("dirty", "clean"),
    "clean": ("dirty", "clean"),
    "lift": ("light", "heavy"),
    "sell": ("old expensive", "new broken"),
    "bring": ("beautiful light fresh", "heavy broken"),
}
# For each reason in the subject, the verbs that it causes and the verbs that it prevents.
SUBJECT_REASONS = {
    "tired": ("sleep rest sit", "work run dance swim play cook"),
    "sick": ("rest sleep", "eat work play dance go come travel"),
    "hungry": ("eat cook", "work sleep"),
    "thirsty": ("drink", ""),
    "sleepy": ("sleep", "read work watch write"),
    "afraid": ("cry run", "sleep"),
    "happy": ("dance laugh sing", ""),
    "sad": ("cry", "eat laugh dance sing"),
    "angry": ("", "talk meet eat help"),
    "busy": ("", "come go play meet watch travel"),
    "lazy": ("", "work wash cook"),
}
GOOD_QUALITIES = (
    "beautiful good new clean strong tasty sweet fresh interesting easy famous clever brave honest rich cheap fast"
)
BAD_QUALITIES = "old small dirty weak expensive heavy sour difficult lazy poor dangerous broken"
OPPOSITES = (
    {"new", "old"}, {"good", "bad"}, {"clean", "dirty"}, {"strong", "weak"}, {"cheap", "expensive"},
    {"easy", "difficult"}, {"rich", "poor"}, {"fresh", "bad"}, {"tasty", "bad"}, {"tasty", "sour"}, {"sweet", "sour"},
)  # fmt: skip
