"""The page of a batch: names are text, links lead into the folder."""

import pytest

from akd.base.files import write_json
from akd.engine.folder import JobFolder
from akd.engine.job import Job
from akd.report.batch_page import batch_page, write_batch_page
from tests.browser import open_chromium
from tests.engine.dummies import fail


@pytest.fixture
def jobs(tmp_path):
    """One that is done, one that failed, one that waits."""
    jobs = [Job(fail, {"k": k}, f"<b>job {name}</b>") for k, name in enumerate("bac")]
    for job, score in zip(jobs[:2], (0.25, 9.5), strict=True):
        folder = JobFolder(tmp_path, job)
        folder.work.mkdir(parents=True)
        write_json(folder.path / "attempt.json", {"seconds": 12.3})
        (folder.work / "report.html").touch()
        folder.finish({"score": score, "verdict": "fails: <i>slides</i>", "skate": 0.5})
    JobFolder(tmp_path, jobs[2]).path.mkdir(parents=True)
    JobFolder(tmp_path, jobs[2]).give_up("<script>alert(1)</script>", 3)
    return [*jobs, Job(fail, {"k": 4}, "waits")]


def test_names_and_errors_are_text(jobs, tmp_path):
    page = batch_page(tmp_path, jobs)
    for markup in ("<b>job", "<i>slides", "<script>alert"):
        assert markup not in page
    assert f'href="{jobs[0].name}/report.html"' in page
    assert f'href="run/{jobs[2].id}/log.txt"' in page
    assert '<td data-name="score">0.25</td><td data-name="travel"></td>' in page
    assert '<td data-name="skate">0.50</td>' in page
    assert '<td data-name="seconds">12</td>' in page
    assert "<dt>waiting</dt><dd>1</dd>" in page


def test_failed_checks_are_shown_in_place_of_the_verdict(jobs, tmp_path):
    folder = JobFolder(tmp_path, jobs[3])
    folder.work.mkdir(parents=True)
    checks = ["it travels <b>0.96</b> leg lengths, must be at least 1"]
    folder.finish({"verdict": "moves: it goes 1.0 leg lengths", "fails": checks})
    page = batch_page(tmp_path, [jobs[3]])
    assert '<span class="badge bad">fails 1 check</span> it travels &lt;b&gt;0.96' in page
    assert "it goes 1.0" not in page


@pytest.mark.parametrize("score", [10**400, float("inf"), float("nan"), True, [1], None])
def test_values_that_are_no_numbers_have_empty_cells(tmp_path, score):
    job = Job(fail, {}, "a")
    folder = JobFolder(tmp_path, job).result
    write_json(folder / "outcome.json", {"id": job.id, "values": {"score": score}})
    shown = "1.00" if score is True else ""
    assert f'<td data-name="score">{shown}</td>' in batch_page(tmp_path, [job])


@pytest.mark.slow
def test_a_click_sorts_and_words_filter(jobs, tmp_path):
    write_batch_page(tmp_path / "index.html", tmp_path, jobs)
    names = "[...document.querySelectorAll('tbody tr:not([hidden]) td:first-child')]"
    names += ".map(cell => cell.textContent)"
    with open_chromium() as browser:
        page = browser.new_page()
        page.goto((tmp_path / "index.html").as_uri())
        page.get_by_role("button", name="score").click()
        # Those without a score come last, up or down.
        assert page.evaluate(names) == ["<b>job b</b>", "<b>job a</b>", "<b>job c</b>", "waits"]
        page.get_by_role("button", name="score").click()
        assert page.evaluate(names)[:2] == ["<b>job a</b>", "<b>job b</b>"]
        page.get_by_role("searchbox").fill("failed ALERT")
        assert page.evaluate(names) == ["<b>job c</b>"]
        assert page.inner_text("[data-shown]") == "1 of 4"
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == 390
