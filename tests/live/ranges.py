#!/usr/bin/env python3
"""Our ranges beside those of Masterminds/semver: 20,000 seeded pairs, and a reason for each that differs.

    tests/live/ranges.py build/release

Without Go, or without the module where there is no network, it skips.
"""
import collections, os, re, shutil, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
pairs = os.path.join(os.path.abspath(sys.argv[1]), "range_pairs")
if not shutil.which("go"):
    print("live ranges: SKIPPED: no go")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    peer = os.path.join(folder, "peer")
    built = subprocess.run(["go", "build", "-o", peer, "."], cwd=os.path.join(here, "ranges"), capture_output=True, text=True)
    if built.returncode != 0:
        print("live ranges: SKIPPED: " + built.stderr.strip())
        sys.exit(77)
    lines = subprocess.run([pairs], capture_output=True, text=True, check=True).stdout
    theirs = subprocess.run([peer], input=lines.replace("==", "="), capture_output=True, text=True, check=True).stdout.splitlines()
rows = [line.split("\t") for line in lines.splitlines()]
assert len(rows) == len(theirs) == 20000, (len(rows), len(theirs))

reasons, odd = collections.Counter(), []
for (text, version, ours), answer in zip(rows, theirs):
    plain, including = answer.split("\t")
    wildcard = re.search(r"[xX*]", text.replace("alpha", ""))
    if ours == plain:
        reasons["the same" + (" with = for ==, which is no comparator there (A7.1)" if "==" in text else "")] += 1
    elif ours == including and ("-" in version or "-" in text):
        reasons["pre-releases are compared plainly (A7.2)"] += 1
    elif wildcard and "-" in version:
        reasons["a wildcard ends at a version, and its pre-releases are below that (A7.2)"] += 1
    else:
        odd.append((text, version, ours, plain, including))
for reason, count in reasons.most_common():
    print("## live ranges: %5d %s" % (count, reason))
for one in odd[:20]:
    print("unexplained: range %r version %s: ours %s, theirs %s, with pre-releases %s" % one)
assert not odd, "%d differences without a reason" % len(odd)
