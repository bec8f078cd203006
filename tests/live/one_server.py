"""What tests on the one real API server of tests/live/run begin with: its kubectl, checks that are counted, and a folder for their files."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

WINDLASS = str(pathlib.Path(sys.argv[1]).resolve() / "windlass")
KUBECONFIG = os.environ["WINDLASS_LIVE_KUBECONFIG"]
KUBECTL = [os.environ["KUBEBUILDER_ASSETS"] + "/kubectl", "--kubeconfig", KUBECONFIG]
CRDS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "crds"
work = pathlib.Path(tempfile.mkdtemp())
failed = []


def check(what, condition, detail=""):
    print(("ok: " if condition else "FAILED: ") + what + ("" if condition else f" {detail}"), flush=True)
    if not condition:
        failed.append(what)


def kubectl(*arguments, **more):
    return subprocess.run([*KUBECTL, *arguments], capture_output=True, text=True, check=more.pop("check", True), **more).stdout


def wait(what, condition, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            check(what, True)
            return True
        time.sleep(0.5)
    check(what, False, f"not within {seconds} s")
    return False


def install_kinds():
    kubectl("apply", "--server-side", "-f", str(CRDS))
    kubectl("create", "namespace", "bootc-operator", check=False)
    time.sleep(2)


def end(name):
    """Ends the test."""
    print(f"## {name}: {len(failed)} failed")
    sys.exit(1 if failed else 0)
