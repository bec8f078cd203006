#!/usr/bin/env python3
"""Runs what the pages of docs/ say: the `sh` blocks of each page, one after the other in one shell, on an embedded API server or on a real one.

    tests/deploy/pages.py BUILD_FOLDER [PAGE…]        needs kubectl; WINDLASS_LIVE_OWN_KUBECONFIG names a real server, else an embedded one is started

A line that ends in "# in a terminal of its own" runs until the page is through. A page is in ELSEWHERE when another test runs its blocks, and no page
with a block may be in neither. What only a person's registry, nodes or clusters can answer is a `console` block: tests/deploy/docs_test.cpp holds
its flags against the program.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
REAL = os.environ.get("WINDLASS_LIVE_OWN_KUBECONFIG")
ASSETS = pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS", pathlib.Path.home() / ".cache/windlass/envtest"))
ELSEWHERE = {
    "docs/quickstart.md": "live_deploy_quickstart",
    "docs/clusters.md": "live_cluster",
    "docs/migrating/bootc-operator.md": "live_migrating_bootc",
}
# What a page takes for granted: files that its reader has.
BEFORE = {
    "docs/releases.md": "cp -r $ROOT/tests/data/releases .; echo '{}' > available.yaml; : > built.yaml; kubectl create namespace bootc-operator || true",
    "docs/migrating/giantswarm-releases.md": "cp -r $ROOT/tests/data/releases .; echo '{}' > available.yaml; echo aws-34.5.0 > in-use",
    "docs/migrating/krypton.md": "kubectl apply --server-side -f deploy/crds/tenants/tenants.yaml; kubectl wait --for=condition=Established crd --all; kubectl apply -f docs/tenants/tenant.yaml; kubectl create namespace krypton-operator; echo '{}' > values.yaml",
    "docs/operating.md": "kubectl apply --server-side -f deploy/crds; kubectl wait --for=condition=Established crd --all; kubectl create namespace bootc-operator || true",
    "docs/upgrading.md": "kubectl apply --server-side -f deploy/crds; kubectl wait --for=condition=Established crd --all; kubectl create namespace bootc-operator || true",
    "docs/trains.md": "cp deploy/examples/trains/train.yaml .; echo 'tags: []' > facts.yaml",
    # The service that its chart puts into the cluster, where no pod runs.
    "docs/trustee.md": "{ until kubectl wait --for=condition=Established crd/trusteeconfigs.confidentialcontainers.org; do sleep 1; done; windlass run --apis compose --metrics-bind-address 0 --health-probe-bind-address 0; } >>background.log 2>&1 &",
    "policies/rollout/default/README.md": "cd policies/rollout/default",
}
ALONE = "# in a terminal of its own"


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


def script(page):
    lines = []
    for i, block in enumerate(blocks(page), 1):
        lines.append(f"echo '+ block {i}'")
        joined = block.replace("\\\n", " ")
        for line in joined.splitlines() if ALONE in block else [block]:
            lines.append(f"{line.split(ALONE)[0].rstrip()} >>background.log 2>&1 & sleep 1" if ALONE in line else line)
    return "\n".join(lines)


def run(page, folder):
    """What the page printed when it failed; none when it went through."""
    here = folder / "here"
    here.mkdir()
    for name in ("docs", "deploy", "policies"):
        shutil.copytree(ROOT / name, here / name)
    (folder / "bin").mkdir()
    kubectl = ASSETS / "kubectl" if (ASSETS / "kubectl").exists() else pathlib.Path(shutil.which("kubectl"))
    (folder / "bin/kubectl").symlink_to(kubectl)
    # "Needs approval" and "denied" are answers of `release` and `train`, no failures.
    (folder / "bin/windlass").write_text(f'#!/bin/sh\n"{BUILD}/windlass" "$@"; code=$?\ncase "$1/$code" in release/[34] | train/[34]) exit 0 ;; *) exit $code ;; esac\n')
    (folder / "bin/windlass").chmod(0o755)
    # The stock one where it is there; ours has its verbs.
    helm = folder / "bin/helm"
    stock = shutil.which("helm")
    helm.symlink_to(stock) if stock else helm.write_text('#!/bin/sh\nexec windlass helm "$@"\n')
    helm.chmod(0o755) if not stock else None
    kubeconfig, server = pathlib.Path(REAL) if REAL else folder / "api/kubeconfig", None
    try:
        if not REAL:
            server = subprocess.Popen([BUILD / "windlass", "apiserver", "--dir", folder / "api", "--tls"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(200):
                if kubeconfig.exists() or server.poll() is not None:
                    break
                time.sleep(0.05)
        # Each job is a process group, so that what bin/windlass starts ends with it.
        text = "set -m; trap 'for job in $(jobs -p); do kill -- -$job 2>/dev/null || true; done; wait' EXIT\n" + BEFORE.get(page, ":") + "\n" + script(page)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=here, capture_output=True, text=True, timeout=1500,
                              env={"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "ROOT": str(ROOT), "KUBECONFIG": str(kubeconfig), "TERM": "dumb"})
        if done.returncode == 0:
            return None
        background = here / "background.log"
        return f"ended with {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-2500:]}{background.read_text()[-1500:] if background.exists() else ''}"
    finally:
        if server:
            server.terminate()
            server.wait()
        else:
            take_away()


def take_away():
    """What a page installed on the real server, for the next page: each begins on a server where nothing is."""
    helm = [BUILD / "windlass", "helm", "--kubeconfig", REAL]
    for release in json.loads(subprocess.run([*helm, "list", "-A", "-o", "json"], capture_output=True, text=True, check=True).stdout or "[]"):
        subprocess.run([*helm, "uninstall", release["name"], "-n", release["namespace"]], capture_output=True)
    subprocess.run([ASSETS / "kubectl", "--kubeconfig", REAL, "delete", "crd", "--all", "--timeout=30s"], capture_output=True)


def main():
    if not (ASSETS / "kubectl").exists() and not shutil.which("kubectl"):
        print("docs pages: SKIPPED: no kubectl (KUBEBUILDER_ASSETS)")
        return 77
    pages = [str(p.relative_to(ROOT)) for folder in ("docs", "policies") for p in sorted((ROOT / folder).rglob("*.md"))] + ["README.md"]
    failed = ran = 0
    for page in pages:
        if page in ELSEWHERE or not blocks(page) or (sys.argv[2:] and page not in sys.argv[2:]):
            continue
        with tempfile.TemporaryDirectory(prefix="windlass-page-") as folder:
            wrong = run(page, pathlib.Path(folder))
        ran += 1
        if wrong:
            failed += 1
            print(f"docs pages: FAILED: {page}: {wrong}")
    print(f"## docs pages: {ran - failed} of {ran} pages with blocks went through on {'a real' if REAL else 'an embedded'} API server")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
