"""Words for parts of a body in joint names, by the part they stand for.

They come from the rigs of Mixamo, Unreal, Unity, VRM, Rigify, Auto-Rig Pro, AdvancedSkeleton, 3ds
Max Biped, HumanIK, Daz, MakeHuman, CMU and SMPL, and from English, Spanish, Portuguese, French,
Italian, German, Dutch, Russian, Japanese, Chinese and Korean bone names.
"""

from __future__ import annotations

_WORDS: dict[str, str] = {
    "pelvis": "pelvis hip hips cog cadera caderas becken hüfte huefte quadril bacino bassin "
    "hanche bekken koshi kosi таз",
    "spine": "spine torso chest abdomen waist back body thorax lowerback upperback belly stomach "
    "ribcage columna espalda pecho torax tórax wirbel wirbelsäule rücken ruecken brust bauch rumpf "
    "coluna colonne colonna rug borst sebo mune hara позвоночник грудь",
    "neck": "neck lowerneck upperneck cuello hals nacken pescoço pescoco cou collo nek kubi шея",
    "head": "head skull cabeza kopf schädel cabeça cabeca tête testa hoofd atama kao голова",
    "face": "face jaw chin mouth nose eye eyes teeth tongue eyebrow lip brow cheek eyelid snout "
    "muzzle beak mandible mandibles museau gueule mâchoire machoire "
    "bec oeil ojo boca nariz mandíbula mandibula lengua auge kiefer mund "
    "nase zunge челюсть глаз",
    "ear": "ear ears horn horns antenna antler antlers crest oreja cuerno ohr geweih orelha "
    "oreille orecchio ухо",
    "tail": "tail cola rabo schwanz cauda caudal queue coda staart shippo sippo хвост",
    "wing": "wing wings feather ala alas flügel fluegel asa aile vleugel hane tsubasa крыло",
    "fin": "fin fins flipper aleta flosse nageoire плавник",
    "arm": "arm forearm upperarm lowerarm shoulder shldr clavicle collar elbow humerus radius ulna "
    "scapula brazo antebrazo hombro codo clavícula clavicula escapula oberarm unterarm schulter "
    "schulterblatt ellbogen schlüsselbein braço braco antebraço ombro cotovelo bras épaule coude "
    "braccio avambraccio spalla gomito kata ude hiji рука плечо предплечье локоть ключица",
    "hand": "hand wrist palm mano muñeca muneca handgelenk mão pincer pincers кисть",
    "finger": "finger fingers thumb index middle ring pinky little carpal metacarpal dedo dedos "
    "pulgar daumen doigt палец",
    "leg": "leg thigh calf shin shank haunch knee femur tibia fibula upleg hock pierna muslo "
    "rodilla pantorrilla bein schenkel oberschenkel unterschenkel knie perna coxa joelho jambe "
    "cuisse mollet genou patella trochanter been dij scheen gamba coscia ginocchio polpaccio ashi "
    "asi momo hiza sune нога бедро голень колено",
    "foot": "foot feet paw hoof ankle tarsus fetlock pastern pie pata tobillo fuss fuß pfote "
    "huf knöchel voet enkel tornozelo pied cheville piede caviglia стопа ступня",
    "toe": "toe toes ball toebase metatarsal metatarsals zehe zehen orteil пальцы",
    "helper": "twist roll pole target ik fk ctrl ctl control helper socket slot handslot attach "
    "mch org tweak corrective jiggle dummy locator widget wgt adj",
    "prop": "prop weapon sword shield knife dagger axe hammer mace staff wand spear bow crossbow "
    "arrow quiver gun pistol rifle hat helmet cap crown cape cloak scarf hair ponytail pigtail "
    "twintail braid bangs fringe mane saddle wheel backpack bag mug throwable spellbook skirt "
    "dress robe coat cloth clothes ribbon sash belt necktie pouch skateboard snowboard surfboard "
    "hoverboard board skis sled scooter bicycle umbrella lantern guitar espada escudo capa falda "
    "cabello pelo schwert schild haar rock umhang",
    "flesh": "breast breasts bust boob boobs butt glute glutes muscle",
    "tentacle": "tentacle tentacles tentáculo tentaculo tentakel tentacule",
    "end": "end tip nub site",
}
PART_WORDS: dict[str, str] = {w: part for part, words in _WORDS.items() for w in words.split()}
"""The part that each word stands for."""
_ARM_SEGMENTS: dict[str, str] = {
    "lower": "fore lower lo low forearm lowerarm elbow ulna radius unterarm ellbogen antebrazo "
    "codo antebraço antebraco avambraccio gomito hiji предплечье локоть 前臂 前腕 ひじ 肘",
    "upper": "upper up upperarm uparm arm humerus oberarm brazo braço braco bras braccio ude рука "
    "腕 臂 팔",
    "girdle": "clavicle clav collar scapula shoulder shldr clavícula clavicula hombro ombro épaule "
    "spalla schlüsselbein schulter schulterblatt kata ключица 肩 锁骨 鎖骨 쇄골 어깨",
}
ARM_SEGMENTS: dict[str, str] = {w: s for s, words in _ARM_SEGMENTS.items() for w in words.split()}
"""The segment of an arm that each word stands for; of several the first of the table counts. Some
call an upper arm a shoulder."""
LEG_SEGMENTS = frozenset({
    "upper", "lower", "thigh", "femur", "upperleg", "upleg", "calf", "shin", "shank", "tibia",
    "lowerleg", "lowleg", "oberschenkel", "unterschenkel", "muslo", "pantorrilla", "cuisse",
    "mollet", "coscia", "polpaccio",
})  # fmt: skip
"""Words of one segment of a leg: two joints of the same segment share it."""
COMPOUND_ENDINGS = (
    "arm", "leg", "foot", "hand", "paw", "spine", "neck", "tail", "wing", "schenkel", "bein",
    "flosse", "toe",
)  # fmt: skip
"""Words that others are glued to, as in `upperarm`."""
COMPOUND_BEGINNINGS = (
    "thigh", "calf", "shin", "forearm", "upperarm", "lowerarm", "shldr", "upperleg", "lowerleg",
    "shoulder", "clavicle", "thumb", "finger", "hair", "skirt", "cloth",
)  # fmt: skip
"""Words that others are glued to the end of, as in `thightwist`."""

_SIDES: dict[str, str] = {
    "left": "l left lft lt lf fl bl hl izq izquierda izquierdo links linke esquerda esquerdo esq "
    "rl lh hidari gauche sinistra sinistro левая левый лев 左 왼쪽 왼",
    "right": "r right rgt rt rf fr br hr der derecha derecho rechts rechte direita direito dir "
    "rr rh migi droite droit destra destro правая правый прав 右 오른쪽 오른",
}
SIDE_WORDS: dict[str, str] = {w: side for side, words in _SIDES.items() for w in words.split()}
"""The side that each word stands for."""
_ENDS: dict[str, str] = {
    "front": "front fore fl fr lf rf delantera delantero vorder vorne dianteira avant 前",
    "back": "back hind rear bl br hl hr rl rr lh rh trasera trasero hinter hinten traseira "
    "arrière 後 后",
}
END_WORDS: dict[str, str] = {w: end for end, words in _ENDS.items() for w in words.split()}
"""The end of the body, of a pair of legs, that each word stands for."""

_SIGNS: dict[str, str] = {
    "pelvis": "下半身 センター 腰 骨盆 골반",
    "spine": "上半身 脊柱 脊椎 胸 척추 가슴",
    "neck": "首 颈 脖子 목",
    "head": "頭 头 머리",
    "face": "目 眼 顎",
    "ear": "耳 角 귀",
    "tail": "尻尾 尾 꼬리",
    "wing": "翼 羽 翅膀 날개",
    "fin": "鰭 鳍 지느러미",
    "arm": "腕 ひじ 肘 肩 臂 前臂 前腕 锁骨 鎖骨 팔 어깨 쇄골",
    "hand": "手首 手腕 手掌 手 손",
    "finger": "親指 人指 中指 薬指 小指 指 손가락",
    "leg": "ひざ 膝 足 大腿 小腿 腿 다리 허벅지 종아리 무릎",
    "foot": "足首 脚 脚踝 脚掌 발 발목",
    "toe": "つま先 足先 脚趾 趾 발가락",
    "helper": "捩 ＩＫ ｉｋ",
    "prop": "髪 前髪 後髪 头发 剣 剑 盾 スカート マント リボン ネクタイ 武器 裙",
}
SIGNS: dict[str, str] = {w: part for part, words in _SIGNS.items() for w in words.split()}
"""Japanese, Chinese and Korean, whose words are not set apart: the longest that fits is read
first."""
