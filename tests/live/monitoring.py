#!/usr/bin/env python3
"""What Prometheus' own tool says of our metrics, alerts and their tests: a running demo is scraped and linted, the rules are
checked and tested. `promtool` is taken from PATH, else from ~/.cache/windlass, else built by the Go toolchain (once, some minutes).
And what the demo's blocked drain looks like from outside: `explain` and the metrics say the same code.

    tests/live/monitoring.py BUILD_FOLDER
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
import go_program

from waits import free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WINDLASS = pathlib.Path(sys.argv[1]).resolve() / "windlass"
RELEASE = "v0.305.0"  # of github.com/prometheus/prometheus: 3.5, which is supported for long
MONITORING = ROOT / "deploy/monitoring"


def promtool():
    found = shutil.which("promtool")
    if found:
        return found
    return go_program.kept("promtool", "github.com/prometheus/prometheus", RELEASE, "cmd/promtool", "monitoring")


def scrape(port, accept="text/plain"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def value(text, name, **labels):
    """The sum of the series of that name that have these labels; None when there is none."""
    found = [line.rsplit(" ", 1)[1] for line in text.splitlines()
             if line.split("{")[0].split(" ")[0] == name and all(f'{k}="{v}"' in line for k, v in labels.items())]
    return sum(map(float, found)) if found else None


def run(*command, text=None):
    done = subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    return done.returncode, said


def check(what, code, said, silent=False):
    if code != 0 or (silent and said.strip()):
        print(f"{what}: {code}\n{said}")
        sys.exit(1)
    print(f"## monitoring: {what}: no complaint")


def main():
    tool = promtool()
    folder = tempfile.mkdtemp(prefix="windlass-monitoring-")
    port = free_port()
    log = open(pathlib.Path(folder, "demo.log"), "w")
    demo = subprocess.Popen([WINDLASS, "demo", "--keep", "--dir", folder, "--clusters", "4", "--nodes", "4", "--speed", "4",
                             "--metrics-bind-address", f"127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 240
        metrics = ""
        while time.monotonic() < deadline:
            try:
                _, metrics = scrape(port)
            except OSError:
                metrics = ""
            # The demo has come to rest: one host that does not come up, one node that a budget keeps, and
            # nobody else waits. On the way there any number may wait for a budget for a moment.
            held = {code: value(metrics, "windlass_held_units", code=code) for code in ("pdb", "degraded")}
            if held == {"pdb": 1, "degraded": 1} and value(metrics, "windlass_held_units") == 2:
                break
            time.sleep(1)
        else:
            print(metrics, open(log.name).read())
            sys.exit("the demo has not come to rest in four minutes, with one node blocked by a budget and one degraded")

        kubeconfig = pathlib.Path(folder, "kubeconfig")
        code, said = run(WINDLASS, "status", "--kubeconfig", kubeconfig, "--context", "home", "-o", "json")
        check("windlass status of the demo", code, "")
        held = [(c["name"], h) for c in json.loads(said)["clusters"] for p in c.get("pools", []) for h in p["holds"] if h["code"] == "pdb"]
        if len(held) != 1 or "since" not in held[0][1]:
            sys.exit(f"one node is blocked, and since when is known: {held}")
        cluster, hold = held[0]
        code, said = run(WINDLASS, "explain", f"{cluster}/{hold['unit']}", "--kubeconfig", kubeconfig, "--context", "home")
        if "[pdb]" not in said or "allows no eviction of default/" not in said or "since:" not in said:
            sys.exit(f"explain does not name the pod and the budget: {said}")
        kubectl = shutil.which("kubectl") or str(pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS", pathlib.Path.home() / ".cache/windlass/envtest")) / "kubectl")
        if pathlib.Path(kubectl).exists():
            code, said = run(kubectl, "--kubeconfig", kubeconfig, "--context", cluster, "get", "bn", "-o", "wide")
            line = next((l for l in said.splitlines() if l.startswith(hold["unit"] + " ")), "")
            if " pdb " not in line or "allows no eviction of default/" not in line or " held " not in line:
                sys.exit(f"kubectl get bn -o wide does not show the hold: {said}")
            code, said = run(kubectl, "--kubeconfig", kubeconfig, "--context", cluster, "get", "events", "-A", "-o", "json")
            # Others waited for a budget for a moment.
            notes = [e for e in json.loads(said)["items"] if e["reason"] == "Stuck" and e["involvedObject"]["name"] == hold["unit"]]
            if len(notes) != 1 or not notes[0]["message"].startswith("pdb: "):
                sys.exit(f"not one Event of the blocked node: {notes}")
            code, said = run(kubectl, "--kubeconfig", kubeconfig, "--context", cluster, "get", "bnp", "-o", "jsonpath={.items[0].status.held}")
            if json.loads(said) != {"pdb": 1}:
                sys.exit(f"status.held of the pool: {said}")
            print("## monitoring: explain, kubectl get bn -o wide, Events, status.held and metrics say pdb")
        else:
            print("## monitoring: SKIPPED what kubectl shows: no kubectl")

        kind, open_metrics = scrape(port, "application/openmetrics-text; version=1.0.0, text/plain;q=0.5")
        if not kind.startswith("application/openmetrics-text") or not open_metrics.endswith("# EOF\n"):
            sys.exit(f"no OpenMetrics: {kind}")
        _, metrics = scrape(port)
        if not tool:
            print("## monitoring: SKIPPED: no promtool, and no Go toolchain that can build it")
            return
        check("promtool check metrics --extended", *run(tool, "check", "metrics", "--extended", text=metrics)[:1], "")
        check("promtool check metrics", *run(tool, "check", "metrics", text=metrics), silent=True)
        check("promtool check rules", *run(tool, "check", "rules", "--lint=all", "--lint-fatal", MONITORING / "alerts.yaml"))
        check("promtool test rules", *run(tool, "test", "rules", MONITORING / "alerts_test.yaml"))
    finally:
        demo.terminate()
        demo.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


main()
