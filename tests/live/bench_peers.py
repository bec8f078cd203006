#!/usr/bin/env python3
"""Every bench in its quick form, with the peers built by Go's and Rust's package clients and run beside it; and the page of the result.

    tests/live/bench_peers.py BUILD_FOLDER

No figure decides anything here: it fails when a bench cannot run, and is skipped where no peer can be built, with the reason. The Rust
peer is therefore not optimised, which its rows say, and is built much sooner. The result is kept in BUILD_FOLDER/bench-report:
all.json and index.html.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = BUILD / "bench-report"
ROW = {"figure", "client", "encoding", "min", "median", "max", "runs", "version", "runtime", "unit"}


def numbers(value):
    """Every number of a document, as the page writes it."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*map(numbers, value)) if value else set()
    return {f"{value:g}"} if isinstance(value, (int, float)) and not isinstance(value, bool) else set()


# Cargo keeps what it makes with other settings beside, so that the next real bench has an optimised peer again.
UNOPTIMISED = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "256"}


def main():
    FOLDER.mkdir(exist_ok=True)
    ran = subprocess.run([BUILD / "windlass-bench", "all", "--quick", "-o", "json"], stdout=subprocess.PIPE, text=True, timeout=2100, cwd=ROOT, env=os.environ | UNOPTIMISED)
    (FOLDER / "all.json").write_text(ran.stdout)
    result = json.loads(ran.stdout)
    failed = {name: told["failed"] for name, told in result["benches"].items() if "failed" in told}
    assert ran.returncode == 0 and not failed, (ran.returncode, failed)
    print(f"## bench: {len(result['benches'])} benches in {result['seconds']:g} s, kept in {FOLDER}")
    for name, told in result["benches"].items():
        if "skipped" in told:
            print(f"## bench {name}: {told['skipped']}")

    drawn = subprocess.run([ROOT / "bench/report", "--draw", FOLDER / "all.json", "--compare", FOLDER / "all.json", FOLDER], stdout=subprocess.PIPE, text=True, check=True)
    assert re.search(r"^0 of [1-9][0-9]* figures moved beyond their spread$", drawn.stdout, re.M), drawn.stdout
    page = (FOLDER / "index.html").read_text()
    charts = "".join(re.findall(r"<svg.*?</svg>", page, re.S))
    shown = set(re.findall(r">(-?[0-9.]+(?:e[-+][0-9]+)?)</text>", charts))
    known = numbers(result)
    missing = {n for n in shown if n not in known}
    assert shown and not missing, missing
    assert "client-go" not in (ROOT / "bench/report").read_text()

    peers = result["benches"]["peers"]["result"]
    assert not peers.get("failed"), peers["failed"]
    for row in peers["points"]:
        assert ROW <= row.keys() and row["min"] <= row["median"] <= row["max"] and row["runs"] >= 1, row
    others = {row["client"] for row in peers["points"]} - {"windlass", "decrypt and parse alone"}
    for who, why in peers.get("skipped", {}).items():
        print(f"## bench without {who}: {why}")
    if not others:
        print("bench_peers: SKIPPED:", "; ".join(f"{who}: {why}" for who, why in peers["skipped"].items()))
        sys.exit(77)
    assert any(row["version"].startswith(("client-go v", "controller-runtime v", "kube ")) for row in peers["points"])
    print(f"## bench: beside {', '.join(sorted(others))}")


main()
