"""charts.py OURS HELM CHART...: renders charts with both programs, with each values file in ci/, and counts equal bytes.

OURS is a program that takes "helm template"; a chart whose reference output differs between two runs (random values) is compared with
those values masked.
"""
import glob
import os
import re
import subprocess
import sys

ours, helm, charts = sys.argv[1], sys.argv[2], sys.argv[3:]
equal, masked, differs = 0, 0, []


def run(command):
    done = subprocess.run(command, capture_output=True)
    return done.returncode, done.stdout, done.stderr if done.returncode else b""


def mask(a, other):
    # Lines that differ between two runs of the reference are random.
    x, y = a.split(b"\n"), other.split(b"\n")
    if len(x) != len(y):
        return None
    return {i for i, (p, q) in enumerate(zip(x, y)) if p != q}


for chart in charts:
    for values in [None] + sorted(glob.glob(os.path.join(chart, "ci", "*.yaml"))):
        rest = ["template", "release", chart, "--kube-version", "v1.31.0"] + (["-f", values, "--include-crds"] if values else [])
        a, b = run([ours, "helm"] + rest if os.path.basename(ours) == "windlass" else [ours] + rest), run([helm] + rest)
        if a == b:
            equal += 1
            continue
        lines = mask(b[1], run([helm] + rest)[1]) or set()
        x, y = a[1].split(b"\n"), b[1].split(b"\n")
        if lines and len(x) == len(y) and all(i in lines for i in range(len(x)) if x[i] != y[i]):
            masked += 1
            continue
        differs.append(f"{chart} {values or ''}")
print(f"{equal} equal, {masked} equal but for random values, {len(differs)} differ")
print("\n".join(differs))
