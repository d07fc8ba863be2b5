"""A small USD file as text: two joints, a strip of two quads on them, and a clip that bends one."""

_IDENTITY = "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))"
_LIFTED = "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 100, 0, 1))"
_BONES = f"[{_IDENTITY}, {_LIFTED}]"

USD_TEXT = f"""#usda 1.0
(
    metersPerUnit = 0.01
    startTimeCode = 0
    timeCodesPerSecond = 10
    upAxis = "Y"
)
def SkelRoot "root"
{{
    def Skeleton "bones" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        uniform token[] joints = ["hips", "hips/spine"]
        uniform matrix4d[] bindTransforms = {_BONES}
        uniform matrix4d[] restTransforms = {_BONES}
        rel skel:animationSource = </root/bones/bend>
        def SkelAnimation "bend"
        {{
            uniform token[] joints = ["hips", "hips/spine"]
            float3[] translations = [(0, 0, 0), (0, 100, 0)]
            quatf[] rotations.timeSamples = {{
                0: [(1, 0, 0, 0), (1, 0, 0, 0)],
                10: [(1, 0, 0, 0), (0.8, 0, 0, 0.6)],
            }}
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
        }}
    }}
    def Mesh "strip" (prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"])
    {{
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 3, 2, 2, 3, 5, 4]
        point3f[] points = [
            (-10, 0, 0), (10, 0, 0), (-10, 100, 0), (10, 100, 0), (-10, 200, 0), (10, 200, 0)
        ]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1)] (
            interpolation = "vertex"
        )
        color3f[] primvars:displayColor = [(1, 0.5, 0)] (interpolation = "constant")
        int[] primvars:skel:jointIndices = [0, 0, 0, 1, 1, 1] (
            elementSize = 1
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 1, 1, 1, 1, 1] (
            elementSize = 1
            interpolation = "vertex"
        )
        rel skel:skeleton = </root/bones>
        rel material:binding = </root/paint>
    }}
    def Material "paint"
    {{
        token outputs:surface.connect = </root/paint/surface.outputs:surface>
        def Shader "surface"
        {{
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (0.2, 0.4, 0.6)
            token outputs:surface
        }}
    }}
}}
"""
