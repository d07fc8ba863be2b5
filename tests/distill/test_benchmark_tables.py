"""What the rows of `benchmarks/distill.py` come to: tables that say what was measured, no more."""

from benchmarks import distill_tables as tables
from benchmarks.distill_controls import SINE


def motion(score, said, fails=(), **values):
    return {
        "action": {"probability": score, "said": said}, "fails": list(fails),
        "alternation": [-0.8], "contact": [0.5, 0.4], "skate": [0.1, 0.2], "penetration": 0.01,
        "float_": 0.0, "roughness": 1.0, "shape": 0.05, "swing": 0.1, **values,
    }  # fmt: skip


def row(case, part="cases", variant="everything", **kinds):
    asked = case.rsplit(" ", 1)[-1]
    found = {"case": case, "part": part, "variant": variant, "asked": asked, "notes": []}
    return {
        **found,
        "seed": 0,
        "iterations": 150,
        "seconds": 3.0,
        "stages": {"fit": 2.0, "film": 1.0},
        **kinds,
    }


def whole(case, score, said, fails=()):
    good = motion(1.0, case.rsplit(" ", 1)[-1])
    return row(
        case, start=motion(0.0, "gliding statue", ["travel"]), true=good,
        motion=motion(0.5, said, ["skate"]), grounded=motion(score, said, fails),
    )  # fmt: skip


def test_cases_come_in_their_order_with_sums_over_them():
    rows = [
        whole("zoo horse 1, walk", 0.4, "trot", ["contact"]),
        whole("zoo fox 0, walk", 1.0, "walk"),
    ]
    text = "\n".join(tables.case_tables(rows))
    assert text.index("| zoo fox 0, walk |") < text.index("| zoo horse 1, walk |")
    assert "| seed 0 | 2 | 0.500 | - | 0.700 | 0.500 | - | - |" in text
    assert "| walk | 2 | 1 | - | 2 | trot 1 |" in text


def test_the_result_is_the_clip_to_use():
    given = whole("zoo fox 0, walk", 0.1, "trot", ["contact"])
    given = given | {"best": "motion", "motion": motion(0.9, "walk")}
    assert "| seed 0 | 1 | 1.000 |" in tables.results_table([given], None)
    snake = row("quaternius Snake, slither", motion=motion(0.9, "slither", contact=[], skate=[]))
    assert "| seed 0 | 1 | 1.000 |" in tables.results_table([snake], None)


def test_strides_are_compared_with_the_true_clips():
    given = whole("zoo fox 0, walk", 1.0, "walk")
    for kind, stride in (("grounded", 1.2), ("true", 1.6)):
        given[kind]["naturalness"] = {"stride": stride}
    ranges = tables.NaturalRange({"walk, 2 legs": {"stride": (2.0, 0.3)}})
    assert "| seed 0 | 1 | 1.000 | - | 1.000 | 1.000 | 0.750 | 0.000 |" in (
        tables.results_table([given], ranges)
    )


def test_controls_stand_beside_the_results():
    rows = [
        whole("zoo fox 0, walk", 1.0, "walk"),
        row("zoo fox 0, walk", "controls", SINE, motion=motion(0.1, "trot", ["float"])),
    ]
    text = tables.controls_table(rows, None)
    assert "| result | 1 | 1.000 | - | 1.000 | - | 0.20 | 0.40 | 1.00 | 0.00 |" in text
    assert f"| {SINE} | 1 | 0.000 | - | 0.000 |" in text
    assert tables.controls_table(rows[:1], None) == ""


def test_the_pose_model_as_a_loss_is_compared_pair_by_pair():
    def clip(case, variant, lean, seconds):
        asked = case.rsplit(" ", 1)[-1]
        made = motion(0.5, asked, naturalness={"lean": lean})
        processor = {"fit": seconds, "film": 9.0}
        return row(case, "people", variant, motion=made, processor=processor)

    rows = [
        clip("zoo man 4, walk", "everything", 10.0, 40.0),
        clip("zoo man 4, walk", tables.POSE_PRIOR, 8.0, 43.0),
        clip("zoo woman 5, run", "everything", 20.0, 60.0),
        clip("zoo woman 5, run", tables.POSE_PRIOR, 14.0, 65.0),
        clip("three.js Robot, walk", "everything", 90.0, 60.0),
    ]
    ranges = tables.NaturalRange({"walk, 2 legs": {"lean": (5.0, 2.0)}})
    text = tables.people_table(rows, ranges)
    assert "2 pairs" in text
    assert "| lean, degrees | 15.000 | 11.000 | -4.000 ± 2.000 |" in text
    assert "| natural | 0.000 | 1.000 | +1.000 ± 0.000 |" in text
    assert "| processor seconds | 50.000 | 54.000 | +4.000 ± 1.000 |" in text
    assert tables.people_table(rows[:1], ranges) == ""


def test_the_papers_setting_is_shown_distilled_and_tracked():
    case = "zoo tiger 2, walk"
    rows = [
        row(case, "paper", "one finalist", motion=motion(0.2, "trot", ["skate"]),
            grounded=motion(0.9, "walk")),
        row(case, "paper", "no L_ground", motion=motion(0.1, "trot"),
            grounded=motion(0.3, "walk", ["skate"])),
    ]  # fmt: skip
    text = tables.paper_table(rows)
    assert "| as it is, distilled | 0 | 0.200 | 0 of 1 |" in text
    assert "| no L_ground, tracked | 1 | 0.300 | 0 of 1 |" in text
    assert f"| {case} | no L_ground | 0.10 trot | 0.30 walk | skate |" in text


def test_an_ablation_is_over_the_cases_that_all_variants_have():
    rows = [
        row("zoo fox 0, walk", "ablation", "one finalist", motion=motion(0.8, "walk")),
        row("zoo man 4, walk", "ablation", "one finalist", motion=motion(0.2, "walk")),
        row("zoo fox 0, walk", "ablation", "no L_ground", motion=motion(0.5, "walk", ["sinks"])),
    ]
    text = tables.ablation_table(rows, "Without", tables.WITHOUT)
    assert "Means over 1 cases" in text
    assert "| one finalist | 0.800 | 1 of 1 |" in text
    assert "| no L_ground | 0.500 | 0 of 1 |" in text
    assert tables.ablation_table(rows[:2], "Without", tables.WITHOUT) == ""


def test_a_row_that_failed_is_no_result_and_is_named():
    failed = {
        "case": "zoo fox 0, walk", "part": "cases", "variant": "everything", "seed": 0,
        "error": "boom",
    }  # fmt: skip
    text = "\n".join(tables.case_tables([failed, whole("zoo man 4, walk", 1.0, "walk")]))
    assert "- zoo fox 0, walk, seed 0: boom" in text
    assert "| seed 0 | 1 |" in text
