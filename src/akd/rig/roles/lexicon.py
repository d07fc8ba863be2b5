"""Words for parts of a body in joint names, by the part they stand for.

They come from the rigs of Mixamo, Unreal, Unity, VRM, Rigify, 3ds Max Biped, HumanIK, Daz,
MakeHuman, CMU and SMPL, and from English, Spanish, German, Japanese and Chinese bone names.
"""

from __future__ import annotations

_WORDS: dict[str, str] = {
    "pelvis": "pelvis hip hips cog cadera caderas becken hüfte huefte",
    "spine": "spine torso chest abdomen waist back body thorax lowerback upperback belly stomach "
    "columna espalda pecho torax tórax wirbel wirbelsäule rücken ruecken brust bauch rumpf",
    "neck": "neck lowerneck upperneck cuello hals nacken",
    "head": "head skull cabeza kopf schädel",
    "face": "face jaw chin mouth nose eye eyes teeth tongue eyebrow lip brow cheek eyelid snout "
    "muzzle ojo boca nariz mandíbula mandibula lengua auge kiefer mund nase zunge",
    "ear": "ear ears horn horns antenna antler antlers crest oreja cuerno ohr geweih",
    "tail": "tail cola rabo schwanz",
    "wing": "wing wings feather ala alas flügel fluegel",
    "fin": "fin fins flipper aleta flosse",
    "arm": "arm forearm upperarm lowerarm shoulder shldr clavicle collar elbow humerus radius ulna "
    "scapula brazo antebrazo hombro codo clavícula clavicula oberarm unterarm schulter "
    "ellbogen schlüsselbein",
    "hand": "hand wrist palm mano muñeca muneca handgelenk",
    "finger": "finger fingers thumb index middle ring pinky little carpal metacarpal dedo pulgar "
    "daumen",
    "leg": "leg thigh calf shin knee femur tibia fibula upleg pierna muslo rodilla "
    "pantorrilla bein schenkel oberschenkel unterschenkel knie",
    "foot": "foot feet paw hoof ankle pie pata tobillo fuss fuß pfote huf knöchel",
    "toe": "toe toes ball toebase metatarsal metatarsals zehe zehen",
    "helper": "twist roll pole target ik fk ctrl ctl control helper socket slot handslot attach "
    "mch org tweak corrective jiggle dummy locator widget wgt adj",
    "prop": "prop weapon sword shield knife dagger axe hammer mace staff wand spear bow crossbow "
    "arrow quiver gun pistol rifle hat helmet cap crown cape cloak scarf hair ponytail pigtail "
    "braid saddle wheel backpack bag mug throwable spellbook espada escudo schwert schild haar",
    "end": "end tip nub site",
}
PART_WORDS: dict[str, str] = {w: part for part, words in _WORDS.items() for w in words.split()}
"""The part that each word stands for."""
COMPOUND_ENDINGS = (
    "arm", "leg", "foot", "hand", "paw", "spine", "neck", "tail", "wing", "schenkel", "bein",
    "flosse",
)  # fmt: skip
"""Words that others are glued to, as in `upperarm`."""

_SIDES: dict[str, str] = {
    "left": "l left lft izq izquierda izquierdo links linke 左",
    "right": "r right rgt der derecha derecho rechts rechte 右",
}
SIDE_WORDS: dict[str, str] = {w: side for side, words in _SIDES.items() for w in words.split()}
"""The side that each word stands for."""

_SIGNS: dict[str, str] = {
    "pelvis": "下半身 センター 腰 骨盆",
    "spine": "上半身 脊柱 脊椎 胸",
    "neck": "首 颈 脖子",
    "head": "頭 头",
    "face": "目 眼 顎",
    "ear": "耳 角",
    "tail": "尻尾 尾",
    "wing": "翼 羽 翅膀",
    "fin": "鰭 鳍",
    "arm": "腕 ひじ 肘 肩 臂 锁骨 鎖骨",
    "hand": "手首 手腕 手掌 手",
    "finger": "親指 人指 中指 薬指 小指 指",
    "leg": "ひざ 膝 足 脚 大腿 小腿 腿",
    "foot": "足首 脚踝 脚掌",
    "toe": "つま先 足先 脚趾 趾",
    "helper": "捩",
    "prop": "髪 头发 剣 剑 盾",
}
SIGNS: dict[str, str] = {w: part for part, words in _SIGNS.items() for w in words.split()}
"""Japanese and Chinese, whose words are not set apart: the longest that fits is read first."""
