"""live.py WINDLASS HELM_ANSWERS: everything this folder compares with the reference engine, in one run; the `live` test of the chart engine.

Needs Go (or the programs it would build, in ~/.cache/windlass) and charts in $WINDLASS_CHARTS (prepare.py puts them into
~/.cache/windlass/charts); what is missing is skipped and said. SEED, TEMPLATES and TREES change what is generated.
Fails when an output differs, a chart differs, or less than 99 of 100 error texts are equal.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import bad_input
import charts
import compare
import trees

HELM_VERSION = "v3.21.4"
here = os.path.dirname(os.path.abspath(__file__))
cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "windlass")
seed = os.environ.get("SEED", "1")
templates = os.environ.get("TEMPLATES", "20000")


def skip(why):
    print("SKIPPED: " + why)


def reference():
    """The Go program that answers questions, built when Go is here."""
    program = os.path.join(cache, "helm_reference")
    if shutil.which("go"):
        os.makedirs(cache, exist_ok=True)
        done = subprocess.run(["go", "build", "-o", program, "main.go"], cwd=here, capture_output=True, text=True)
        if done.returncode:
            return skip("the reference program does not build: " + done.stderr[:500])
    return program if os.path.exists(program) else skip("no Go, so nothing answers for the reference")


def helm():
    """The stock program of the right version, installed when Go is here."""
    places = [os.environ.get("WINDLASS_HELM"), shutil.which("helm"), os.path.expanduser("~/go/bin/helm")]
    for place in filter(None, places):
        if os.path.exists(place) and HELM_VERSION in subprocess.run([place, "version", "--short"], capture_output=True, text=True).stdout:
            return place
    if not shutil.which("go"):
        return skip(f"no helm {HELM_VERSION} and no Go to install it")
    print(f"installing helm {HELM_VERSION}")
    subprocess.run(["go", "install", f"helm.sh/helm/v3/cmd/helm@{HELM_VERSION}"], check=True)
    return os.path.expanduser("~/go/bin/helm")


def questions(program, kind, *arguments):
    return subprocess.run([sys.executable, os.path.join(here, program), kind, *arguments], capture_output=True, check=True).stdout


def compare_answers(ours, theirs):
    failed = False
    plan = [("templates", templates, seed), ("functions",), ("numbers",), ("yaml", "2000", seed), ("set", "5000", seed), ("sort", "2000", seed), ("schema", "3000", seed), ("constraint",)]
    plan = [("generate.py", *p) for p in plan] + [("generate_damaged.py", *p) for p in (("merge",), ("json", "1000", seed), ("toml", "3000", seed))]
    for program, kind, *arguments in plan:
        asked, outputs, texts, failing = compare.differences(questions(program, kind, *arguments), ours, theirs)
        for title, found in (("outputs", outputs), ("error texts", texts)):
            compare.show(title, found, 5)
        share = 100.0 * (failing - len(texts)) / failing if failing else 100.0
        print(f"{kind}: {asked - len(outputs)} of {asked} byte-equal, {len(outputs)} outputs differ; "
              f"{failing - len(texts)} of {failing} error texts equal ({share:.2f} %)", flush=True)
        failed = failed or bool(outputs) or share < 99
    return failed


def compare_trees(ours, program):
    with tempfile.TemporaryDirectory() as folder:
        made = trees.make(int(os.environ.get("TREES", "60")), int(seed), folder)
        counts, differ = charts.compare(ours, program, made)
    print("\n".join(differ))
    print(f"{len(made)} generated trees of charts: {sum(counts.values())} of {sum(counts.values()) + len(differ)} equal, {len(differ)} differ", flush=True)
    return bool(differ)


def compare_charts(ours, program):
    folder = os.environ.get("WINDLASS_CHARTS") or os.path.join(cache, "charts")
    found = sorted(os.path.dirname(p) for p in glob.glob(os.path.join(folder, "*", "Chart.yaml")))
    if not found:
        skip(f"no charts in {folder}; see README.md")
        return False
    counts, differ = charts.compare(ours, program, found)
    good = sum(counts.values())
    print("\n".join(differ))
    print(f"{len(found)} charts with their values: {good} of {good + len(differ)} byte-equal ({counts['masked']} of them but for random values, "
          f"{counts['failed']} are refused with the same text), {len(differ)} differ")
    return bool(differ)


def compare_bad_input(ours, program):
    tried, differ = bad_input.compare(ours, program)
    print("\n".join(differ))
    print(f"{tried} bad inputs, {len(differ)} differ", flush=True)
    return bool(differ)


def main():
    ours, answers = sys.argv[1:3]
    print(f"seed {seed}")
    bad = False
    if theirs := reference():
        bad = compare_answers(answers, theirs)
    if program := helm():
        bad = compare_bad_input(ours, program) or bad
        bad = compare_trees(ours, program) or bad
        bad = compare_charts(ours, program) or bad
    sys.exit(1 if bad else 0)


main()
