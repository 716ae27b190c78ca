"""The words of the English-French grammar, and which of them go together.

A noun has kinds ("animal", "way"); verbs and qualities name the kinds that they go with, or a noun itself.
"""

from dataclasses import dataclass, field
from typing import Literal

from headlight.corpora import english
from headlight.corpora.grammars.english_french import french
from headlight.corpora.grammars.english_french.french import Conjugation, Gender, Tense


@dataclass(frozen=True)
class FrenchNoun:
    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: Gender
    kinds: frozenset[str]  # its own name among them

    @property
    def is_person(self) -> bool:
        return "person" in self.kinds


def _nouns(table: str) -> tuple[FrenchNoun, ...]:
    """Parse lines such as "mouse/mice | souris f | animal prey"; a regular plural is omitted."""
    nouns = []
    for line in table.strip().splitlines():
        name, translated, kinds = (part.strip() for part in line.split("|"))
        singular, _, many = name.partition("/")
        forms, gender = translated.rsplit(" ", 1)
        un, _, des = forms.partition("/")
        nouns.append(
            FrenchNoun(
                singular,
                many or english.pluralize(singular),
                un,
                des or french.plural(un),
                "m" if gender == "m" else "f",
                frozenset([singular, *kinds.split()]),
            )
        )
    return tuple(nouns)


# "wild" nouns have no possessive: no "my river". "mass" nouns have no plural and take "some"; "single" nouns no plural.
NOUNS = _nouns("""
man/men | homme m | person wild adult youthful handsome
woman/women | femme f | person wild adult youthful lovely
boy | garçon m | person wild handsome
girl | fille f | person wild lovely
king | roi m | person wild adult youthful handsome
queen | reine f | person wild adult youthful lovely
mother | mère f | person family adult lovely single
father | père m | person family adult single
brother | frère m | person family adult
sister | sœur f | person family adult
uncle | oncle m | person family adult
aunt | tante f | person family adult
grandmother | grand-mère/grands-mères f | person family adult
grandfather | grand-père/grands-pères m | person family adult
actor | acteur m | person wild adult youthful handsome
actress | actrice f | person wild adult youthful lovely
waiter | serveur m | person wild adult youthful
waitress | serveuse f | person wild adult youthful
prince | prince m | person wild adult youthful handsome
princess | princesse f | person wild adult youthful lovely
policeman/policemen | policier m | person wild adult youthful
policewoman/policewomen | policière f | person wild adult youthful
fisherman/fishermen | pêcheur m | person wild adult youthful
cat | chat m | animal hunter pet small_animal
dog | chien m | animal hunter pet small_animal
animal | animal m | animal big wild
horse | cheval m | animal draft big
donkey | âne m | animal draft big
mule | mule f | animal draft big
mare | jument f | animal draft big
cow | vache f | animal draft big
camel | chameau m | animal draft big wild
goat | chèvre f | animal small_animal
pig | cochon m | animal
hen | poule f | animal prey pet small_animal
goose/geese | oie f | animal prey pet small_animal
duck | canard m | animal prey pet small_animal
rabbit | lapin m | animal prey pet small_animal
hare | lièvre m | animal prey wild
mouse/mice | souris f | animal prey small_animal
squirrel | écureuil m | animal prey wild small_animal
frog | grenouille f | animal prey wild
turtle | tortue f | animal pet small_animal
fox | renard m | animal hunter wild
wolf/wolves | loup m | animal hunter wild
bear | ours m | animal hunter big wild
lion | lion m | animal hunter big wild
lioness | lionne f | animal hunter big wild
panther | panthère f | animal hunter big wild
owl | chouette f | animal hunter wild small_animal
otter | loutre f | animal hunter wild small_animal
monkey | singe m | animal wild small_animal
giraffe | girafe f | animal big wild
elephant | éléphant m | animal big wild
zebra | zèbre m | animal big wild
gazelle | gazelle f | animal prey wild
hedgehog | *hérisson m | animal wild small_animal
street | rue f | way long
road | route f | way long
avenue | avenue f | way long wild
boulevard | boulevard m | way long wild
path | chemin m | way long land wild
bridge | pont m | way long wild
track | piste f | way long land wild
alley | ruelle f | way long wild
corridor | couloir m | opening room long
tunnel | tunnel m | way long wild
river | rivière f | waters long wild
lake | lac m | waters wild
stream | ruisseau m | waters wild
canal | canal m | waters long wild
pond | étang m | waters wild
bay | baie f | waters wild
field | champ m | land
meadow | prairie f | land
desert | désert m | land wild
forest | forêt f | land dark place wild
valley | vallée f | land wild
plain | plaine f | land wild
marsh | marais m | land wild
hill | colline f | hill wild
mountain | montagne f | hill wild
cliff | falaise f | hill wild
volcano/volcanoes | volcan m | hill wild
staircase | escalier m | hill opening long
rock | rocher m | hill wild
wall | mur m | obstacle thick hider
fence | clôture f | obstacle
hedge | *haie f | obstacle thick hider
ditch | fossé m | obstacle long
gate | portail m | obstacle opening
barrier | barrière f | obstacle
book | livre m | thing text packable thick
letter | lettre f | text long
poem | poème m | text long
story | histoire f | text long
novel | roman m | text thing long packable thick
card | carte f | text thing
newspaper | journal m | text thing
coat | manteau m | clothes thing packable long
dress | robe f | clothes thing packable long
hat | chapeau m | clothes thing packable
shirt | chemise f | clothes thing packable
skirt | jupe f | clothes thing long packable
jacket | veste f | clothes thing packable
scarf/scarves | foulard m | clothes thing long packable
pullover | pull m | clothes thing packable thick
umbrella | parapluie m | thing packable long
guitar | guitare f | thing packable
violin | violon m | thing packable
lamp | lampe f | thing packable light fragile
cushion | coussin m | thing packable thick
blanket | couverture f | thing packable thick
helmet | casque m | thing packable
doll | poupée f | thing packable
toy | jouet m | thing packable
sword | épée f | tool thing packable long
tent | tente f | thing packable
painting | tableau m | thing packable
racket | raquette f | thing packable
key | clé f | thing
watch | montre f | thing
ball | ballon m | thing packable projectile
hammer | marteau m | thing packable projectile
stone | pierre f | thing projectile
brick | brique f | thing projectile
box | boîte f | container closable
bag | sac m | container
suitcase | valise f | container closable
basket | panier m | container nest
crate | caisse f | container closable
drawer | tiroir m | container closable
chest | coffre m | container closable
cupboard | placard m | container closable furniture
wardrobe | armoire f | container closable furniture
bucket | seau m | container
vase | vase m | thing fragile
bowl | bol m | thing fragile
cup | tasse f | thing fragile
mirror | miroir m | thing fragile packable
bottle | bouteille f | thing fragile
plate | assiette f | thing fragile
statue | statue f | thing fragile packable
sofa | canapé m | furniture nest
armchair | fauteuil m | furniture nest
bed | lit m | furniture nest
table | table f | furniture
chair | chaise f | furniture
desk | bureau m | furniture
bench | banc m | furniture
piano | piano m | furniture
ladder | échelle f | furniture long
door | porte f | opening
window | fenêtre f | opening fragile
kitchen | cuisine f | room
bedroom | chambre f | room nest
living room | salon m | room nest
garage | garage m | room
cellar | cave f | room
barn | grange f | room nest
shed | *hangar m | room
stable | étable f | room nest
car | voiture f | vehicle carrier
truck | camion m | vehicle loud carrier
bus | bus m | vehicle loud
van | camionnette f | vehicle carrier
tractor | tracteur m | vehicle loud carrier
motorcycle | moto f | vehicle loud
taxi | taxi m | vehicle wild
ambulance | ambulance f | vehicle loud wild
cart | charrette f | load
sledge | traîneau m | load
plough | charrue f | load
wagon | chariot m | load
caravan | caravane f | load
bell | cloche f | loud
drum | tambour m | loud
siren | sirène f | loud wild
thunderstorm | orage m | loud wild
storm | tempête f | loud wild
robot | robot m | loud
machine | machine f | loud
candle | bougie f | light thing
torch | torche f | light thing
lantern | lanterne f | light thing packable
fire | feu m | light wild
spotlight | projecteur m | light
house | maison f | building small_building place
hotel | hôtel m | building place wild
castle | château m | building hider place wild
tower | tour f | building hider wild
church | église f | building hider place wild
school | école f | building venue
hospital | hôpital m | building venue wild
museum | musée m | building venue wild
library | bibliothèque f | building venue
station | gare f | building venue wild
restaurant | restaurant m | building venue
theatre | théâtre m | building venue wild
cabin | cabane f | small_building place
fountain | fontaine f | small_building wild
well | puits m | small_building wild
sign | panneau m | small_building wild
monument | monument m | small_building wild
tree | arbre m | hider
market | marché m | venue wild
beach | plage f | venue wild
airport | aéroport m | venue wild
garden | jardin m | place land
park | parc m | place land wild
village | village m | place wild
city | ville f | place wild
knife/knives | couteau m | tool thing
saw | scie f | tool thing
axe | *hache f | tool thing
razor | rasoir m | tool thing
rope | corde f | cuttable thick long
branch | branche f | cuttable thick long wild
trunk | tronc m | cuttable thick wild
cable | câble m | cuttable thick long
bread | pain m | food mass cuttable
meat | viande f | food mass cuttable hot cooked
soup | soupe f | food mass hot cooked
cheese | fromage m | food mass cuttable
fish | poisson m | food mass cooked hot
rice | riz m | food mass hot cooked
salad | salade f | food cooked
pizza | pizza f | food hot cooked
omelette | omelette f | food hot cooked
cake | gâteau m | food cooked sweet
tart | tarte f | food cooked sweet
biscuit | biscuit m | food cooked sweet
sandwich | sandwich m | food cooked
apple | pomme f | food fruit
pear | poire f | food fruit
orange | orange f | food fruit
melon | melon m | food fruit
lemon | citron m | food fruit
carrot | carotte f | food
egg | œuf m | food
water | eau f | drink mass hot
milk | lait m | drink mass hot
tea | thé m | drink mass hot sweet
lemonade | limonade f | drink mass sweet
juice | jus m | drink mass sweet
""")

Position = Literal["before", "after", "predicate"]


@dataclass(frozen=True)
class Quality:
    """A quality of a noun. French may express it by "avoir" ("avoir faim") or an adverb ("en panne")."""

    english: str
    masculine: str
    feminine: str
    before_vowel: str  # the masculine before a vowel: "bel"
    position: Position  # of the French adjective beside its noun
    kinds: frozenset[str]  # of the nouns that it fits
    takes_avoir: bool  # French expresses it with "avoir"
    graded: bool  # goes with "too" and "very"

    def fits(self, noun: FrenchNoun) -> bool:
        return not self.kinds.isdisjoint(noun.kinds)


def _qualities(table: str) -> dict[str, Quality]:
    """Parse lines such as "old | vieux/vieille/vieil | before | kinds"; "=" precedes a noun that goes with "avoir", "!"
    follows a quality without degrees.
    """
    qualities = {}
    for line in table.strip().splitlines():
        name, forms, position, kinds = (part.strip() for part in line.split("|"))
        masculine, _, more_forms = forms.lstrip("=").partition("/")
        feminine, _, before_vowel = more_forms.partition("/")
        quality = Quality(
            name.rstrip("!"),
            masculine,
            feminine or french.feminine(masculine),
            before_vowel or masculine,
            "before" if position == "before" else "after" if position == "after" else "predicate",
            frozenset(kinds.split()),
            forms.startswith("="),
            not name.endswith("!"),
        )
        qualities[quality.english] = quality
    return qualities


QUALITIES = _qualities("""
big | grand | before | thing furniture container animal building hider vehicle load room tree place box loud waters
small | petit | before | thing furniture container animal building small_building vehicle room light opening
beautiful | beau/belle/bel | before | lovely animal clothes doll lamp vase building small_building place land hill
handsome | beau/belle/bel | before | handsome
old | vieux/vieille/vieil | before | adult animal thing furniture container vehicle building way tool load
new! | nouveau/nouvelle/nouvel | before | thing furniture container vehicle building load bell machine
young | jeune | before | youthful animal
pretty | joli | before | small_building clothes fountain village garden girl princess doll cup vase box basket
bad! | mauvais | before | text food way
good | bon | before | text food drink restaurant hotel knife
long | long/longue | before | long
wide | large | after | street road avenue boulevard path waters ditch hedge furniture
narrow | étroit | after | opening way container
deep | profond | after | waters ditch valley drawer bucket chest basket bag
high | *haut | after | wall fence hedge gate barrier hill tower
low | bas/basse | after | wall fence hedge small_building
steep | raide | after | hill path street way track alley
busy | fréquenté | after | way
slippery | glissant | after | way hill
dangerous | dangereux | after | way waters land hill hunter tool
noisy | bruyant | after | loud way venue restaurant vehicle dog lion lioness bear goose duck donkey monkey hen
dark | sombre | after | room forest tunnel corridor alley
muddy | boueux | after | path track field meadow garden park stream plain
icy | verglacé | after | way
flooded! | inondé | after | way land tunnel cellar garage
closed! | fermé | predicate | way venue building tunnel gate door window
crowded! | bondé | predicate | market station restaurant museum theatre bus library airport beach church hotel
tired | fatigué | after | person animal
weak | faible | after | person animal light
sick | malade | after | person animal
frightened | effrayé | after | animal
slow | lent | after | animal vehicle
lazy | paresseux | after | person animal
nervous | nerveux | after | person animal
shy | timide | after | person animal
stubborn | têtu | after | animal
careful | prudent | after | person animal
curious | curieux | after | animal
clumsy | maladroit | after | person animal
injured! | blessé | after | animal
poor | pauvre | predicate | person
rich! | riche | after | person
hungry | =faim | predicate | person animal
thirsty | =soif | predicate | person animal
sleepy | =sommeil | predicate | person animal
broken down! | en panne | predicate | vehicle machine robot
heavy | lourd | after | thing furniture vehicle load container big
light | léger | after | projectile thing
full | plein | after | container
hot | chaud | after | hot
cold | froid | after | hot drink
fresh | frais/fraîche | after | food drink
salty | salé | after | cooked cheese
spicy | épicé | after | soup meat rice pizza fish sandwich
sweet | sucré | after | sweet fruit
bitter | amer | after | fruit tea lemonade juice
dry | sec/sèche | after | bread cake meat biscuit tart fish
hard | dur | after | projectile bread cheese biscuit pear carrot cuttable
soft | mou/molle | after | ball cushion bread cheese meat
thick | épais/épaisse | after | thick cuttable mirror bowl cup plate window
thin | fin | after | cuttable bowl cup plate mirror vase
fragile | fragile | after | fragile
solid | solide | after | fragile furniture
blunt | émoussé | after | tool
fast | rapide | after | hunter prey horse mare zebra giraffe vehicle
clever | rusé | after | fox prey monkey
agile | agile | after | prey cat monkey panther
comfortable | confortable | after | nest
pleasant | agréable | after | nest place room
expensive | cher | after | clothes thing furniture vehicle hotel restaurant
boring | ennuyeux | after | text
dirty | sale | after | clothes container vehicle cup plate bowl bottle window fragile
quiet | calme | after | nest village park garden beach library street
red! | rouge | after | clothes thing container vehicle furniture door apple fruit
blue! | bleu | after | clothes thing container vehicle furniture door
green! | vert | after | clothes thing container vehicle furniture door apple
yellow! | jaune | after | clothes thing container vehicle melon
white! | blanc/blanche | after | draft cat dog goat rabbit hen goose mouse clothes thing container furniture wall house
black! | noir | after | clothes thing container vehicle furniture cat dog draft goat rabbit hen duck bear panther wolf
grey! | gris | after | cat dog horse mare donkey rabbit mouse wolf elephant clothes wall box owl
brown! | brun | after | cat dog horse mare cow bear rabbit goat hare
French! | français | after | vehicle text cheese restaurant actor actress king queen village
English! | anglais | after | vehicle text cheese tea actor actress king queen village policeman policewoman
German! | allemand | after | vehicle text bread actor actress village king queen
Italian! | italien | after | vehicle text cheese pizza restaurant actor actress village
Spanish! | espagnol | after | text guitar orange actor actress melon king queen
American! | américain | after | vehicle text actor actress policeman policewoman
Russian! | russe | after | text doll tea prince princess actor actress
Japanese! | japonais | after | vehicle text restaurant sword tea
""")

AGES = frozenset(("old", "new", "young"))
COLOURS = frozenset(("red", "blue", "green", "yellow", "white", "black", "grey", "brown"))
ORIGINS = frozenset(("French", "English", "German", "Italian", "Spanish", "American", "Russian", "Japanese"))
# Fit into any sentence, since they cannot be a reason for anything.
NEUTRAL_QUALITIES = COLOURS | ORIGINS | {"beautiful", "handsome"}


def english_place(quality: Quality) -> int:
    """Return the rank of an adjective among those before a noun: "her rich old uncle", "my new red car"."""
    return next((rank for rank, names in ((2, COLOURS | ORIGINS), (1, AGES)) if quality.english in names), 0)


@dataclass(frozen=True)
class FrenchVerb:
    english: str
    conjugation: Conjugation
    past: str
    particle: str = ""  # English: "wait" "for"
    preposition: str = ""  # French: "sauter" "par-dessus"


def _verb(name: str, infinitive: str, past: str = "", preposition: str = "", etre: bool = False) -> FrenchVerb:
    base, _, particle = name.partition(" ")
    return FrenchVerb(base, Conjugation(infinitive, etre), past or english.past_tense(base), particle, preposition)


VERBS = {
    (f"{verb.english} {verb.particle}" if verb.particle else verb.english): verb
    for verb in (
        _verb("see", "voir", "saw"),
        _verb("watch", "regarder"),
        _verb("love", "aimer"),
        _verb("buy", "acheter", "bought"),
        _verb("sell", "vendre", "sold"),
        _verb("find", "trouver", "found"),
        _verb("lose", "perdre", "lost"),
        _verb("look for", "chercher"),
        _verb("wait for", "attendre"),
        _verb("listen to", "écouter"),
        _verb("wash", "laver"),
        _verb("repair", "réparer"),
        _verb("paint", "peindre"),
        _verb("draw", "dessiner", "drew"),
        _verb("read", "lire", "read"),
        _verb("write", "écrire", "wrote"),
        _verb("open", "ouvrir"),
        _verb("close", "fermer"),
        _verb("eat", "manger", "ate"),
        _verb("drink", "boire", "drank"),
        _verb("prepare", "préparer"),
        _verb("take", "prendre", "took"),
        _verb("visit", "visiter"),
        _verb("carry", "porter"),
        _verb("follow", "suivre"),
        _verb("hide", "cacher", "hid"),
        _verb("break", "casser", "broke"),
        _verb("give", "donner", "gave"),
        _verb("show", "montrer"),
        _verb("lend", "prêter", "lent"),
        _verb("send", "envoyer", "sent"),
        _verb("sleep", "dormir", "slept"),
        _verb("work", "travailler"),
        _verb("sing", "chanter", "sang"),
        _verb("dance", "danser"),
        _verb("play", "jouer"),
        _verb("wait", "attendre"),
        _verb("walk", "marcher"),
        _verb("arrive", "arriver", etre=True),
        _verb("stay", "rester", etre=True),
        _verb("fall", "tomber", "fell", etre=True),
        _verb("go", "aller", "went", etre=True),
        _verb("cross", "traverser"),
        _verb("fit into", "rentrer", "fit", preposition="dans", etre=True),
        _verb("catch", "attraper", "caught"),
        _verb("jump over", "sauter", preposition="par-dessus"),
        _verb("climb", "gravir"),
        _verb("pull", "tirer"),
        _verb("go through", "passer", "went", preposition="par", etre=True),
        _verb("transport", "transporter"),
        _verb("stop", "arrêter", "stopped"),
        _verb("frighten", "effrayer"),
        _verb("attract", "attirer"),
        _verb("cut", "couper", "cut"),
        _verb("light up", "éclairer", "lit"),
        _verb("avoid", "éviter"),
        _verb("enter", "entrer", preposition="dans", etre=True),
        _verb("leave", "quitter", "left"),
    )
}

# Modal verbs, which French conjugates before an infinitive.
CAN, WANT = Conjugation("pouvoir"), Conjugation("vouloir")


@dataclass(frozen=True)
class VerbFrame:
    """A verb with the kinds of its subject and object, and the reasons that fit only one of the two."""

    verb: str
    subject: str  # a kind
    object: str  # a kind
    subject_reasons: tuple[str, ...]
    object_reasons: tuple[str, ...]
    negative: bool


def _frame(verb: str, subject: str, object: str, of_subject: str, of_object: str, negative: bool = True) -> VerbFrame:
    return VerbFrame(verb, subject, object, tuple(of_subject.split(", ")), tuple(of_object.split(", ")), negative)


FRAMES = (
    _frame("cross", "animal", "way", "tired, weak, sick, frightened, slow, lazy, injured", "wide, busy, slippery, icy"),
    _frame("cross", "animal", "way", "tired, nervous, young, stubborn", "noisy, long, flooded, closed"),
    _frame("cross", "animal", "waters", "tired, weak, lazy, frightened, young, injured", "wide, deep"),
    _frame("cross", "animal", "land", "tired, sick, lazy, weak, stubborn, slow", "dangerous, muddy, flooded"),
    _frame("take", "vehicle", "way", "heavy, slow, broken down", "narrow, icy, flooded, closed, busy"),
    _frame("fit into", "packable", "container", "big, thick, long", "small, narrow, full"),
    _frame("eat", "animal", "food", "tired, sick, nervous, frightened, shy", "salty, spicy, hot, dry, hard"),
    _frame("eat", "animal", "food", "hungry", "fresh, sweet", negative=False),
    _frame("drink", "animal", "water milk", "sick, frightened, nervous, shy", "hot, cold"),
    _frame("drink", "animal", "water milk", "thirsty", "fresh", negative=False),
    _frame("catch", "hunter", "prey", "slow, tired, clumsy, lazy, old", "fast, clever, agile, careful"),
    _frame("jump over", "animal", "obstacle", "tired, lazy, slow, heavy, injured, young", "high, wide"),
    _frame("climb", "animal", "hill", "tired, weak, lazy, young, sick, injured", "steep, high, slippery, dangerous"),
    _frame("pull", "draft", "load", "tired, weak, sick, stubborn, lazy, injured", "heavy, big"),
    _frame("go through", "furniture", "opening", "wide, big", "narrow, small"),
    _frame("break", "projectile", "fragile", "light", "solid, thick"),
    _frame("break", "projectile", "fragile", "heavy, hard", "fragile, thin", negative=False),
    _frame("transport", "carrier", "big", "small, broken down", "heavy, nervous, sick"),
    _frame("transport", "carrier", "furniture", "small, broken down", "heavy, wide"),
    _frame("stop", "waters", "animal", "deep, wide", "tired, weak, young, old, sick", negative=False),
    _frame("stop", "obstacle", "animal", "high", "tired, slow, young, lazy", negative=False),
    _frame("stop", "hill", "animal", "steep, high, slippery", "tired, weak, heavy, young, sick", negative=False),
    _frame("frighten", "loud", "animal", "noisy", "nervous, shy, young, weak", negative=False),
    _frame("attract", "food", "animal", "fresh, sweet", "hungry, curious", negative=False),
    _frame("attract", "nest", "small_animal", "comfortable, pleasant", "tired, sleepy, sick, lazy", negative=False),
    _frame("hide", "hider", "small_building", "big, high", "small, low", negative=False),
    _frame("cut", "tool", "cuttable", "blunt", "hard, thick"),
    _frame("light up", "light", "room", "weak, small", "big"),
    _frame("avoid", "prey", "hunter", "careful, shy, weak, clever", "dangerous, noisy, big", negative=False),
    _frame("enter", "animal", "room", "shy, frightened, nervous, stubborn", "dark, flooded"),
    _frame("leave", "small_animal", "nest", "tired, sick, lazy, frightened, sleepy", "comfortable, pleasant"),
)

# With people, whom English does not call "it", so that the pronoun alone tells the antecedent.
PERSON_FRAMES = (
    _frame("buy", "person", "clothes thing", "poor, tired", "expensive, old, dirty, small, big"),
    _frame("read", "person", "text", "tired, lazy, sick", "long, boring, bad"),
    _frame("cross", "person", "way", "tired, weak, sick, nervous, old", "wide, busy, slippery, icy, dangerous"),
    _frame("climb", "person", "hill", "tired, weak, lazy, old, sick", "steep, high, slippery, dangerous"),
    _frame("eat", "person", "food", "tired, sick, nervous", "salty, spicy, hot, dry, hard, cold, bitter"),
    _frame("drink", "person", "drink", "tired, sick, nervous", "hot, cold, sweet, bitter"),
    _frame("eat", "person", "food", "hungry", "good, fresh, sweet", negative=False),
    _frame("drink", "person", "drink", "thirsty", "good, fresh, sweet", negative=False),
    _frame("carry", "person", "container packable", "tired, weak, lazy, sick, old", "heavy"),
    _frame("repair", "person", "vehicle", "lazy, tired, clumsy, sick", "old"),
    _frame("break", "person", "fragile", "clumsy, nervous, tired", "fragile, thin", negative=False),
    _frame("avoid", "person", "hunter", "careful, shy, weak", "dangerous, noisy, big", negative=False),
    _frame("frighten", "animal", "person", "noisy, big", "nervous, shy, young", negative=False),
    _frame("visit", "person", "museum library theatre church castle", "tired, sick, lazy", "closed, crowded, noisy"),
)

# With a single noun, which must be the one with the reason.
LONE_FRAMES = (
    ("sleep", "person animal", ("tired", "sleepy", "lazy", "sick")),
    ("fall", "person animal", ("clumsy", "weak", "tired")),
)

# Kinds of subjects and of objects for what people and animals do without a reason.
TRANSITIVE_VERBS = (
    ("see", "person animal", "person animal building hill vehicle thing"),
    ("watch", "person animal", "person animal vehicle fire storm"),
    ("love", "person", "person pet food drink text place clothes"),
    ("buy", "person", "food drink thing clothes furniture vehicle draft"),
    ("sell", "person", "food thing clothes furniture vehicle draft house"),
    ("find", "person", "thing key pet clothes text container"),
    ("lose", "person", "thing key clothes watch pet"),
    ("look for", "person", "thing pet person clothes hotel restaurant school"),
    ("wait for", "person", "person bus taxi letter ambulance"),
    ("listen to", "person", "person story bell poem"),
    ("wash", "person", "clothes vehicle cup plate bowl pet fruit carrot"),
    ("repair", "person", "vehicle machine robot watch lamp chair table guitar wall fence umbrella toy"),
    ("paint", "person", "house door wall animal tree chair hill bridge"),
    ("draw", "person", "animal house person tree tower hill"),
    ("read", "person", "text"),
    ("write", "person", "letter poem story novel card"),
    ("open", "person", "door window gate closable letter bottle"),
    ("close", "person", "door window gate closable"),
    ("eat", "person", "food"),
    ("drink", "person", "drink"),
    ("prepare", "person", "cooked tea"),
    ("visit", "person", "castle museum church city village tower theatre"),
    ("carry", "person", "container thing chair"),
    ("follow", "person animal", "person animal river path road street"),
    ("hide", "person", "key thing letter egg text"),
    ("break", "person", "vase bowl cup mirror bottle plate window statue"),
)

INTRANSITIVE_VERBS = (
    ("sleep", "person animal"),
    ("work", "person"),
    ("sing", "person"),
    ("dance", "person"),
    ("play", "person pet monkey"),
    ("wait", "person"),
    ("walk", "person pet"),
    ("stay", "person animal"),
    ("fall", "person animal"),
    ("arrive", "person"),
    ("go", "person"),
)

DITRANSITIVE_VERBS = (
    ("give", "thing food text clothes toy pet"),
    ("show", "thing text clothes vehicle house"),
    ("lend", "thing vehicle ladder"),
    ("send", "letter card book poem"),
)

# What is done to the same thing one after the other: "buys an apple and eats it".
CONSECUTIVE_VERBS = (
    ("buy", "eat", "food"),
    ("prepare", "eat", "cooked"),
    ("buy", "drink", "drink"),
    ("take", "drink", "drink"),
    ("find", "sell", "thing clothes"),
    ("buy", "wash", "clothes fruit carrot"),
    ("take", "close", "box suitcase chest"),
    ("draw", "paint", "tree hill house"),
    ("repair", "sell", "vehicle watch chair table guitar lamp"),
    ("find", "hide", "key thing letter"),
    ("buy", "lose", "thing key clothes"),
    ("take", "break", "bowl cup plate bottle vase mirror"),
    ("buy", "read", "text"),
    ("see", "follow", "person animal"),
    ("look for", "find", "thing person pet clothes"),
    ("wash", "sell", "vehicle"),
)

NAMES: tuple[tuple[str, Gender], ...] = (
    ("Marie", "f"), ("Paul", "m"), ("Julie", "f"), ("Thomas", "m"),
    ("Sophie", "f"), ("Lucas", "m"), ("Alice", "f"), ("Antoine", "m"),
)  # fmt: skip


@dataclass(frozen=True)
class Aligned:
    """Aligned words: each French word has the index of the English word that it translates."""

    english: tuple[str, ...]
    french: tuple[tuple[str, tuple[int, ...]], ...]
    tenses: frozenset[Tense] = field(default_factory=frozenset)  # the tenses that it goes with


def _aligned(english_words: str, french_words: str, tenses: tuple[Tense, ...] = ()) -> Aligned:
    """Parse a phrase such as ("next week", "la:0 semaine:1 prochaine:0")."""
    pieces = (piece.split(":") for piece in french_words.split())
    french_part = tuple((text, tuple(int(number) for number in numbers.split(","))) for text, numbers in pieces)
    return Aligned(tuple(english_words.split()), french_part, frozenset(tenses))


# For single events, which may have a reason.
DAYS = (
    _aligned("yesterday", "hier:0", ("past",)),
    _aligned("this morning", "ce:0 matin:1", ("past",)),
    _aligned("last night", "hier:0 soir:1", ("past",)),
    _aligned("on Monday", "lundi:0,1", ("past", "future")),
    _aligned("on Sunday", "dimanche:0,1", ("past", "future")),
    _aligned("today", "aujourd'hui:0", ("past", "present", "future")),
    _aligned("tomorrow", "demain:0", ("future",)),
    _aligned("tonight", "ce:0 soir:0", ("future",)),
)
TIMES = (
    *DAYS,
    _aligned("last week", "la:0 semaine:1 dernière:0", ("past",)),
    _aligned("last month", "le:0 mois:1 dernier:0", ("past",)),
    _aligned("every day", "tous:0 les:0 jours:1", ("present",)),
    _aligned("every evening", "tous:0 les:0 soirs:1", ("present",)),
    _aligned("next week", "la:0 semaine:1 prochaine:0", ("future",)),
    _aligned("next month", "le:0 mois:1 prochain:0", ("future",)),
)

ADVERBS = (_aligned("often", "souvent:0"), _aligned("always", "toujours:0"), _aligned("sometimes", "parfois:0"))

# Where something happens: the preposition, and the kinds of places and things that it goes with.
PLACES = (
    (_aligned("in", "dans:0"), "place room"),
    (_aligned("at", "à:0"), "venue"),
    (_aligned("near", "près:0 de:0"), "building venue place waters door bridge"),
    (_aligned("in front of", "devant:0,1,2"), "building venue door gate"),
    (_aligned("behind", "derrière:0"), "building small_building tree hedge wall"),
    (_aligned("next to", "à:0,1 côté:0 de:1"), "building small_building tree river"),
)
# Things and the places where they lie.
LYING_THINGS = (
    ("key letter card watch toy book shirt scarf", _aligned("in", "dans:0"), "drawer box chest suitcase bag basket"),
    ("key letter bowl cup plate book newspaper lamp vase", _aligned("on", "sur:0"), "table chair desk bench piano"),
    ("cat dog ball doll toy umbrella", _aligned("under", "sous:0"), "table chair bed bench sofa tree"),
    ("person animal pet vehicle", _aligned("behind", "derrière:0"), "tree wall hedge house church"),
)
CITIES = (("Paris", "Paris"), ("Lyon", "Lyon"), ("London", "Londres"), ("Rome", "Rome"), ("Lisbon", "Lisbonne"))
