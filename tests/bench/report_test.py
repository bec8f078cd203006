#!/usr/bin/env python3
"""bench/report on documents as `windlass-bench all -o json` writes them: what is drawn, and what is said to have moved."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPORT = pathlib.Path(__file__).resolve().parents[2] / "bench/report"


def spread(least, median, most, runs=3):
    return {"min": least, "median": median, "max": most, "runs": runs}


def document():
    ours = {"figure": "cpu_us_per_event", "client": "windlass", "encoding": "json", "version": "this build", "runtime": "gcc", "unit": "µs", **spread(7, 8, 9)}
    theirs = {**ours, "client": "a peer <b>", "version": "peer v1", **spread(70, 80.5, 90)}
    peers = {"ratios": {"cpu_us_per_event": {"json": 10.06}}, "points": [ours, theirs], "skipped": {"kube-rs": "Rust is not installed"}}
    return {"machine": "a processor", "cores": 2, "form": "quick", "runs": 3, "seconds": 60, "ratios": {"peers": {"ratios": peers["ratios"]}},
            "benches": {"peers": {"seconds": 50, "figures": {}, "result": peers}, "helm": {"skipped": "there are no charts"},
                        "store": {"seconds": 10, "figures": {"bytes_per_object": spread(340, 347, 350)}, "result": {"bytes_per_object": 347}}}}


class Report(unittest.TestCase):
    def run_on(self, new, old=None):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            (folder / "new.json").write_text(json.dumps(new))
            (folder / "old.json").write_text(json.dumps(old or new))
            said = subprocess.run([sys.executable, REPORT, "--draw", folder / "new.json", "--compare", folder / "old.json", folder],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            return said, (folder / "index.html").read_text()

    def test_each_peer_is_drawn_with_version_runs_and_spread(self):
        _, page = self.run_on(document())
        self.assertIn("<td>a peer &lt;b&gt;</td><td>json</td><td>peer v1</td><td>3</td><td>70</td><td>80.5</td><td>90</td>", page)
        self.assertLess(page.index("Beside others"), page.index('<h2 id="peers">'))
        self.assertIn("<td>10.06</td>", page)

    def test_what_was_left_out_is_told_with_its_reason(self):
        _, page = self.run_on(document())
        self.assertIn("Without kube-rs: Rust is not installed", page)
        self.assertIn("skipped: there are no charts", page)

    def test_nothing_moved_beside_itself(self):
        said, _ = self.run_on(document())
        self.assertIn("0 of 3 figures moved beyond their spread\n", said)

    def test_a_figure_moved_when_no_run_of_both_is_alike(self):
        new = document()
        new["benches"]["store"]["figures"]["bytes_per_object"] = spread(351, 360, 365)
        new["benches"]["peers"]["result"]["points"][0].update(spread(8.5, 9.5, 10))
        said, _ = self.run_on(new, document())
        self.assertIn("1 of 3 figures moved beyond their spread:\nstore bytes_per_object: 347 (340 to 350) before, 360 (351 to 365) now\n", said)

    def test_a_figure_of_one_run_has_no_spread_to_leave(self):
        new, old = document(), document()
        new["benches"]["store"]["figures"]["bytes_per_object"] = spread(500, 500, 500, 1)
        said, _ = self.run_on(new, old)
        self.assertIn("0 of 3 figures moved", said)
        self.assertIn("measured once in one of the two", said)

    def test_another_machine_is_told_first(self):
        old = copy.deepcopy(document())
        old["machine"] = "another"
        said, _ = self.run_on(document(), old)
        self.assertIn("machine: another before, a processor now", said)

    def test_the_source_has_no_figure_of_a_peer(self):
        self.assertNotIn("client-go", REPORT.read_text())


unittest.main()
