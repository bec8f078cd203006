#!/usr/bin/env python3
"""Holds the verbs and flags of `windlass helm` against those of the stock `helm`, and its small chart against both.

    tests/helm/commands/beside_helm.py BUILD_FOLDER

The peer is $HELM, ~/go/bin/helm or the one on PATH; without it the test is skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WINDLASS = str(pathlib.Path(sys.argv[1]).resolve() / "windlass")
HELM = os.environ.get("HELM") or next((str(p) for p in [pathlib.Path.home() / "go/bin/helm"] if p.exists()), None) or shutil.which("helm")
SKIPPED = 77
OWN = {("lint", "fleet"), ("install", "server-side"), ("upgrade", "server-side"), ("rollback", "server-side")}
failed = []


def check(what, condition, detail=""):
    if not condition:
        failed.append(what)
        print(f"FAILED: {what} {detail}", flush=True)


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    return done.returncode, done.stdout, done.stderr


def ours():
    """verb → {flag: shorthand}; of every command under None. Verbs that are refused have no flags."""
    page, found, refused = run(WINDLASS, "helm", "help", "--reference")[1], {}, set()
    for part in page.split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        verb = None if heading.startswith("Flags") else heading.removeprefix("helm ")
        rows = re.findall(r"^\| (?:`-(\w)` )?`--([a-z-]+)` \| ([a-z ]+) \|", text, re.M)
        found[verb] = {flag: "refused" if how == "refused" else brief for brief, flag, how in rows}
        if "*refused*:" in text:
            refused.add(verb)
    return found, refused


def theirs(path=()):
    text = run(HELM, *path, "--help")[1]
    below = re.search(r"Available Commands:\n((?:  .*\n)+)", text)
    if below:
        for line in below.group(1).splitlines():
            yield from theirs((*path, line.split()[0]))
    section = re.search(r"\nFlags:\n((?:  .*\n?)+)", text)
    flags = re.findall(r"^ +(?:-(\w), )?--([a-z-]+)", section.group(1) if section else "", re.M)
    if not below or not path:
        yield " ".join(path), {flag: brief for brief, flag in flags if flag != "help"}


def verbs():
    found, refused = ours()
    seen = 0
    for verb, flags in theirs():
        if verb.startswith("completion "):
            continue  # powershell too; one script completes all of windlass
        check(f"helm {verb} stands in the reference", not verb or verb in found)
        if verb in refused:
            continue
        known = found[None] if not verb else found.get(verb, {}) | found[None]
        for flag, brief in flags.items():
            seen += 1
            check(f"helm {verb} --{flag} stands in the reference", flag in known)
            if flag in known:
                check(f"helm {verb} --{flag} is -{brief} for short", known[flag] in (brief, "refused"), known[flag])
        if verb == "verify":
            continue  # ours renders with both engines as well
        extra = {(verb, f) for f in found.get(verb, {}) if f not in flags} - OWN
        hidden = {"recreate-pods", "client", "no-update"}  # Helm has them and does not list them
        for _, flag in extra:
            code, _, err = run(HELM, *verb.split(), f"--{flag}", "--help")
            check(f"helm {verb} --{flag} is Helm's or ours", flag in hidden or "unknown flag" not in err)
    print(f"beside_helm: {seen} flags of {len(found)} verbs compared", flush=True)


def chart():
    with tempfile.TemporaryDirectory() as folder:
        check("create", run(WINDLASS, "helm", "create", "first-shop", cwd=folder)[0] == 0)
        for tool in ([WINDLASS, "helm"], [HELM]):
            code, out, err = run(*tool, "lint", "--strict", "first-shop", cwd=folder)
            check(f"{tool[0]} lints the chart clean", code == 0 and "WARNING" not in out + err, out + err)
        for more in ([], ["--set", "service.type=NodePort,replicas=0"], ["--set", "image.tag=2,podAnnotations.a=b"], ["--set", "service.port=0"]):
            a, b = (run(*tool, "template", "web", "first-shop", *more, "--kube-version", "1.36", cwd=folder) for tool in ([WINDLASS, "helm"], [HELM]))
            check(f"template {more} is equal", a == b, f"\n{a}\n{b}")


def settings():
    with tempfile.TemporaryDirectory() as home:
        for more in ({}, {"HELM_NAMESPACE": "shops", "HELM_DEBUG": "1", "HELM_MAX_HISTORY": "3", "XDG_CONFIG_HOME": "/x"}):
            env = {"HOME": home, "PATH": os.environ["PATH"]} | more
            a, b = (dict(re.findall(r'^(\w+)="(.*)"$', run(*tool, "env", env=env)[1], re.M)) for tool in ([WINDLASS, "helm"], [HELM]))
            a.pop("HELM_BIN"), b.pop("HELM_BIN")
            check("env is equal", a == b, f"\n{a}\n{b}")


if not HELM:
    print("beside_helm: SKIPPED: no stock helm (set HELM)")
    sys.exit(SKIPPED)
verbs()
chart()
settings()
sys.exit(1 if failed else 0)
