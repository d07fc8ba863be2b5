"""A small FBX file as text: two bones, a strip of two quads on them, and a clip that bends one."""

from base64 import b64encode
from pathlib import Path

SECOND = 46_186_158_000
"""Ticks of FBX's clock in a second."""


_LAYERS = (
    ("Normal", "Normals", "ByPolygonVertex", 3, 8 * ("0,0,1",)),
    ("UV", "UV", "ByPolygonVertex", 2, ("0,0", "1,0", "1,0.5", "0,0.5") * 2),
    ("Color", "Colors", "ByPolygonVertex", 4, 8 * ("1,0.5,0,1",)),
)
"""Layers of the painted strip: name, values, mapping, how many a corner, and the values."""


def fbx_text(*, up: str = "y", unit: float = 1.0, clip: bool = True) -> str:
    """Two bones of 100 units, the second on the first; `unit` in centimetres."""
    axes = {
        "y": (1, 1, 2, 1, 0, 1),
        "z": (2, 1, 1, -1, 0, 1),
    }[up]
    names = ("UpAxis", "UpAxisSign", "FrontAxis", "FrontAxisSign", "CoordAxis", "CoordAxisSign")
    settings = "".join(
        f'\t\tP: "{name}", "int", "Integer", "",{value}\n'
        for name, value in zip(names, axes, strict=True)
    )
    along = (lambda h: (0.0, h, 0.0)) if up == "y" else (lambda h: (0.0, 0.0, h))
    points = [
        tuple(a + b for a, b in zip(along(height), (side, 0.0, 0.0), strict=True))
        for height in (0.0, 100.0, 200.0)
        for side in (-10.0, 10.0)
    ]
    vertices = ",".join(f"{c:g}" for point in points for c in point)
    x, y, z = along(100.0)
    identity = "1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1"
    lifted = f"1,0,0,0,0,1,0,0,0,0,1,0,{x:g},{y:g},{z:g},1"
    lowered = f"1,0,0,0,0,1,0,0,0,0,1,0,{-x:g},{-y:g},{-z:g},1"
    return f"""; FBX 7.4.0 project file
FBXHeaderExtension:  {{
\tFBXHeaderVersion: 1003
\tFBXVersion: 7400
}}
GlobalSettings:  {{
\tVersion: 1000
\tProperties70:  {{
{settings}\t\tP: "UnitScaleFactor", "double", "Number", "",{unit:g}
\t\tP: "TimeMode", "enum", "", "",6
\t}}
}}
Objects:  {{
\tModel: 1, "Model::hips", "LimbNode" {{
\t\tVersion: 232
\t}}
\tModel: 2, "Model::spine", "LimbNode" {{
\t\tVersion: 232
\t\tProperties70:  {{
\t\t\tP: "Lcl Translation", "Lcl Translation", "", "A",{x:g},{y:g},{z:g}
\t\t}}
\t}}
\tModel: 3, "Model::strip", "Mesh" {{
\t\tVersion: 232
\t}}
\tGeometry: 10, "Geometry::strip", "Mesh" {{
\t\tVertices: *18 {{
\t\t\ta: {vertices}
\t\t}}
\t\tPolygonVertexIndex: *8 {{
\t\t\ta: 0,1,3,-3,2,3,5,-5
\t\t}}
\t\tGeometryVersion: 124
\t}}
\tDeformer: 20, "Deformer::", "Skin" {{
\t\tVersion: 101
\t}}
\tDeformer: 21, "SubDeformer::hips", "Cluster" {{
\t\tVersion: 100
\t\tIndexes: *4 {{
\t\t\ta: 0,1,2,3
\t\t}}
\t\tWeights: *4 {{
\t\t\ta: 1,1,0.5,0.5
\t\t}}
\t\tTransform: *16 {{
\t\t\ta: {identity}
\t\t}}
\t\tTransformLink: *16 {{
\t\t\ta: {identity}
\t\t}}
\t}}
\tDeformer: 22, "SubDeformer::spine", "Cluster" {{
\t\tVersion: 100
\t\tIndexes: *4 {{
\t\t\ta: 2,3,4,5
\t\t}}
\t\tWeights: *4 {{
\t\t\ta: 0.5,0.5,1,1
\t\t}}
\t\tTransform: *16 {{
\t\t\ta: {lowered}
\t\t}}
\t\tTransformLink: *16 {{
\t\t\ta: {lifted}
\t\t}}
\t}}
{_clip() if clip else ""}}}
Connections:  {{
\tC: "OO",1,0
\tC: "OO",2,1
\tC: "OO",3,0
\tC: "OO",10,3
\tC: "OO",20,10
\tC: "OO",21,20
\tC: "OO",22,20
\tC: "OO",1,21
\tC: "OO",2,22
{_clip_links() if clip else ""}}}
"""


def _clip() -> str:
    return f"""\tAnimationStack: 30, "AnimStack::bend", "" {{
\t\tProperties70:  {{
\t\t\tP: "LocalStop", "KTime", "Time", "",{SECOND}
\t\t\tP: "ReferenceStop", "KTime", "Time", "",{SECOND}
\t\t}}
\t}}
\tAnimationLayer: 31, "AnimLayer::layer", "" {{
\t}}
\tAnimationCurveNode: 32, "AnimCurveNode::R", "" {{
\t\tProperties70:  {{
\t\t\tP: "d|X", "Number", "", "A",0
\t\t\tP: "d|Y", "Number", "", "A",0
\t\t\tP: "d|Z", "Number", "", "A",0
\t\t}}
\t}}
\tAnimationCurve: 33, "AnimCurve::", "" {{
\t\tDefault: 0
\t\tKeyVer: 4008
\t\tKeyTime: *2 {{
\t\t\ta: 0,{SECOND}
\t\t}}
\t\tKeyValueFloat: *2 {{
\t\t\ta: 0,90
\t\t}}
\t\tKeyAttrFlags: *1 {{
\t\t\ta: 4
\t\t}}
\t\tKeyAttrDataFloat: *4 {{
\t\t\ta: 0,0,0,0
\t\t}}
\t\tKeyAttrRefCount: *1 {{
\t\t\ta: 2
\t\t}}
\t}}
"""


def _clip_links() -> str:
    return """\tC: "OO",31,30
\tC: "OO",32,31
\tC: "OP",32,2, "Lcl Rotation"
\tC: "OP",33,32, "d|Z"
"""


def write_fbx_text(path: Path, **options: object) -> Path:
    path.write_text(fbx_text(**options))  # pyright: ignore[reportArgumentType]
    return path


def painted_text(image: bytes, *, file_name: str = "", embedded: bool = True) -> str:
    """The strip with normals, texture coordinates, vertex colours, a material with a texture, which
    is in the file or beside it, and a blend shape that lifts its first vertex by 10 units."""
    layers = "".join(
        f"""\t\tLayerElement{name}: 0 {{
\t\t\tMappingInformationType: "{mapping}"
\t\t\tReferenceInformationType: "Direct"
\t\t\t{values}: *{8 * width} {{
\t\t\t\ta: {",".join(numbers)}
\t\t\t}}
\t\t}}
"""
        for name, values, mapping, width, numbers in _LAYERS
    )
    shown = "".join(
        f"""\t\t\tLayerElement:  {{
\t\t\t\tType: "LayerElement{name}"
\t\t\t\tTypedIndex: 0
\t\t\t}}
"""
        for name, *_ in _LAYERS
    )
    content = f'\t\tContent: , "{b64encode(image).decode()}"\n' if embedded else ""
    text = fbx_text().replace(
        "\t\tGeometryVersion: 124\n",
        f"\t\tGeometryVersion: 124\n{layers}\t\tLayer: 0 {{\n{shown}\t\t}}\n",
    )
    objects = f"""\tMaterial: 40, "Material::paint", "" {{
\t\tShadingModel: "phong"
\t\tProperties70:  {{
\t\t\tP: "DiffuseColor", "Color", "", "A",0.2,0.4,0.6
\t\t}}
\t}}
\tTexture: 41, "Texture::skin", "" {{
\t\tType: "TextureVideoClip"
\t\tFileName: "{file_name}"
\t\tRelativeFilename: "{file_name}"
\t\tProperties70:  {{
\t\t\tP: "WrapModeU", "enum", "", "",1
\t\t}}
\t}}
\tVideo: 42, "Video::skin", "Clip" {{
\t\tType: "Clip"
\t\tFileName: "{file_name}"
\t\tRelativeFilename: "{file_name}"
{content}\t}}
\tDeformer: 50, "Deformer::", "BlendShape" {{
\t\tVersion: 100
\t}}
\tDeformer: 51, "SubDeformer::lift", "BlendShapeChannel" {{
\t\tVersion: 100
\t\tDeformPercent: 25
\t}}
\tGeometry: 52, "Geometry::lift", "Shape" {{
\t\tVersion: 100
\t\tIndexes: *1 {{
\t\t\ta: 0
\t\t}}
\t\tVertices: *3 {{
\t\t\ta: 0,10,0
\t\t}}
\t}}
}}
Connections:  {{
\tC: "OO",40,3
\tC: "OP",41,40, "DiffuseColor"
\tC: "OO",42,41
\tC: "OO",50,10
\tC: "OO",51,50
\tC: "OO",52,51
"""
    return text.replace("}\nConnections:  {\n", objects)
