"""A believable height for a body, from what its file is called and from its plan."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from akd.asset.asset import Asset
from akd.rig.roles import names
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.role import LimbKind

_TOLERATED = 1.5
"""A file's own height is believed within this factor of the usual one."""
_HEIGHTS: dict[float, str] = {
    0.01: "bee bumblebee wasp hornet ant fly mosquito beetle ladybug ladybird caterpillar cricket "
    "termite cockroach firefly",
    0.03: "butterfly dragonfly moth mantis scorpion goldfish clownfish shrimp snail slug gecko "
    "centipede grasshopper",
    0.06: "mouse spider tarantula hamster bat betta toad newt salamander lizard sparrow lobster "
    "shrew hummingbird finch robin vole gerbil",
    0.1: "rat chick frog crab turtle snake cobra python squirrel hedgehog mole piranha puffer "
    "viper rattlesnake anaconda stoat chipmunk",
    0.15: "koi pufferfish duckling kitten guineapig jellyfish chameleon iguana ferret weasel "
    "quail starling magpie",
    0.3: "pigeon dove parrot bird crow raven duck owl seagull gull rabbit bunny hare lionfish "
    "anglerfish flatfish flounder salmon trout squid octopus cuttlefish falcon piglet skunk "
    "opossum kookaburra toucan cockatoo macaw puffin partridge pheasant carp mackerel barracuda "
    "stingray mongoose meerkat",
    0.4: "cat chicken hen rooster pug dachshund corgi raccoon beaver goose turkey tortoise badger "
    "otter terrier ray manta crocodile alligator lamb croc platypus porcupine armadillo lemur "
    "wombat wolverine marten poodle bulldog spaniel cockerel",
    0.6: "fox shiba beagle monkey lynx dolphin tuna seal koala sloth bobcat caracal serval dingo "
    "collie gibbon macaque baboon",
    0.8: "wolf dog husky coyote jackal pig hog boar goat cheetah leopard jaguar puma cougar "
    "penguin eagle hawk vulture swordfish heron swan shepherd labrador retriever dalmatian "
    "doberman mastiff wolfhound hound greyhound rottweiler gazelle warthog condor stork pelican",
    1.0: "sheep ram panther hyena shark peacock calf foal chimp chimpanzee ewe antelope impala "
    "ibex mandrill porpoise sturgeon tapir orangutan bonobo",
    1.2: "lion tiger velociraptor raptor panda walrus flamingo lioness tigress cassowary",
    1.4: "donkey pony bear llama alpaca kangaroo child boy girl kid gorilla mule reindeer caribou "
    "wildebeest gnu muskox grizzly",
    1.6: "cow horse deer bull zebra stag ox buffalo bison rhino rhinoceros hippo elk orca auroch "
    "aurochs zebu cattle yak heifer mare stallion hippopotamus okapi",
    1.7: "man woman human male female person people knight king queen witch wizard soldier pirate "
    "ninja rogue ranger barbarian mage zombie skeleton farmer worker astronaut police clown "
    "captain adventurer archer monk emu dancer nurse doctor teacher chef businessman "
    "policeman policewoman fireman firefighter cowboy cowgirl samurai viking warrior gladiator "
    "spartan mannequin lady gentleman peasant villager hunter miner lumberjack sailor",
    2.2: "moose camel ostrich sunfish",
    3.0: "elephant mammoth triceratops whale spermwhale iguanodon",
    4.0: "trex tyrannosaurus parasaurolophus stegosaurus allosaurus spinosaurus giganotosaurus "
    "carnotaurus tarbosaurus",
    5.0: "giraffe",
    6.0: "apatosaurus brachiosaurus brontosaurus diplodocus mamenchisaurus",
}
"""Usual height of a standing animal or person from the ground to the top of the head, metres."""
_BY_NAME = {word: height for height, words in _HEIGHTS.items() for word in words.split()}
_SEXES = {"male", "female"}
"""Say what a person is, and of an animal only which."""
_PERSON, _QUADRUPED = (0.3, 1.7, 4.0), (0.02, 0.8, 6.0)
"""Least, usual and greatest height of a body with arms and one pair of legs, and with two pairs."""
_WINGSPAN = 2.4
"""Of a bird, over its standing height: eagle 2.5, pigeon 2.2, crow 2, gull 3. A bird that is bound
in flight is flat, and its height says nothing."""
_LONG_TAIL = 3
"""Joints of a tail that a person in a costume does not have."""


@dataclass(frozen=True)
class AssumedHeight:
    """A height to use instead of the file's."""

    metres: float
    why: str
    """For a person to read."""


HEIGHT_KEY = "akd_height"
"""Name of the body's height, metres, in the extras of a clip that akd wrote."""


def stated_height(asset: Asset, height: float) -> AssumedHeight | None:
    """The height that a clip of akd states, which was found from the name of another file.

    Args:
        asset: The file.
        height: Of the body by the file's units, metres.

    Returns:
        None where no clip states a height, or one that is the file's own.
    """
    clips = asset.document.json.get("animations") if asset.document is not None else None
    for clip in reversed(clips if isinstance(clips, list) else []):
        extras = clip.get("extras") if isinstance(clip, dict) else None
        metres = extras.get(HEIGHT_KEY) if isinstance(extras, dict) else None
        if isinstance(metres, int | float) and 0 < metres < 1e6:
            if not height > 0 or abs(metres / height - 1.0) < 1e-3:
                return None
            return AssumedHeight(
                metres, f"a clip of akd states {metres:.4g} m; --height overrides it"
            )
    return None


def is_person(limbs: Collection[LimbKind | None], *, tail_joints: int) -> bool:
    """Whether a body has the plan of a person: arms, one pair of legs, and no long tail.

    With such a tail it may be anything from a squirrel to a tyrannosaur.
    """
    return LimbKind.LEG in limbs and LimbKind.ARM in limbs and tail_joints < _LONG_TAIL


def assume_height(
    height: float, *, stem: str, anatomy: Anatomy, breadth: float = 0.0
) -> AssumedHeight | None:
    """A height where the file's own is not to be believed.

    Args:
        height: Of the body by the file's units, metres.
        stem: The file's name.
        breadth: Extent of the body across, metres: a wingspan where there are wings.
        anatomy: Its limbs tell the plan where the name says nothing.

    Returns:
        None where the file's height is believable, or where nothing is known of such a body.
    """
    if not height > 0:
        return None
    kinds = {limb.kind for limb in anatomy.limbs}
    standing = max(height, breadth / _WINGSPAN) if LimbKind.WING in kinds else height
    known = [word for word in names.words(stem) if word in _BY_NAME]
    if known:
        word = next((w for w in reversed(known) if w not in _SEXES), known[-1])
        what, usual = f"{'an' if word[0] in 'aeiou' else 'a'} {word}", _BY_NAME[word]
        low, high = usual / _TOLERATED, usual * _TOLERATED
    elif is_person(kinds, tail_joints=len(anatomy.tail)):
        what, (low, usual, high) = "a figure on two legs", _PERSON
    elif {LimbKind.FORE, LimbKind.HIND} <= kinds and LimbKind.MID not in kinds:
        what, (low, usual, high) = "an animal on four legs", _QUADRUPED
    else:
        return None
    if low <= standing <= high:
        return None
    factor = usual / standing
    if standing > height:
        size = f"a wingspan of {breadth:.3g} m is {'wide' if factor < 1 else 'narrow'}"
        usual = breadth * factor
    else:
        size = f"{height:.3g} m is {'tall' if factor < 1 else 'small'}"
    return AssumedHeight(
        height * factor,
        f"{size} for {what}: timing and physics for {usual:.3g} m; --height overrides it",
    )
