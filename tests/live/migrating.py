#!/usr/bin/env python3
"""docs/migrating/bootc-operator.md as it is written, on a real API server: the original is installed from its own manifests, each way of the page takes
its place and gives it back, and the pool is the same object throughout.

    WINDLASS_LIVE_OWN_KUBECONFIG=F KUBEBUILDER_ASSETS=D tests/live/migrating.py BUILD_FOLDER

Ends with one JSON line: {"ways", "back", "refused"}.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
OWN = os.environ["WINDLASS_LIVE_OWN_KUBECONFIG"]
ASSETS = os.environ["KUBEBUILDER_ASSETS"]
ORIGINAL = ROOT / "tests/data/bootc-operator/install.yaml"
PAGE = (ROOT / "docs/migrating/bootc-operator.md").read_text()
BLOCKS = {part.split("\n", 1)[0]: re.findall(r"^```sh\n(.*?)^```$", part, re.M | re.S) for part in PAGE.split("\n## ")}
POOL = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "workers"},
        "spec": {"nodeSelector": {"matchLabels": {"pool": "workers"}}, "image": {"ref": "quay.io/example/os@sha256:" + "a" * 64}}}


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin/windlass").symlink_to(BUILD / "windlass")
        (folder / "bin/kubectl").symlink_to(pathlib.Path(ASSETS) / "kubectl")
        config = json.loads(subprocess.run([folder / "bin/kubectl", "--kubeconfig", OWN, "config", "view", "--raw", "--flatten", "-o", "json"],
                                           capture_output=True, text=True, check=True).stdout)
        named = config["contexts"][0]["context"]
        config["contexts"] = [{"name": name, "context": named} for name in ("home", "prod-eu-1")]
        config["current-context"] = "home"
        (folder / "kubeconfig").write_text(json.dumps(config))
        self.env = os.environ | {"KUBECONFIG": str(folder / "kubeconfig"), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)}

    def shell(self, text, fails=False):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=180)
        if (done.returncode != 0) != fails:
            raise RuntimeError(f"{text.strip()}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def get(self, kind, name, *more):
        return json.loads(self.shell(f"kubectl get {kind} {name} {' '.join(more)} -o json"))

    def install_original(self):
        self.shell(f"kubectl apply -f {ORIGINAL}")
        self.shell("kubectl wait --for=condition=Established crd/bootcnodepools.node.bootc.dev --timeout=30s")
        selector = self.get("deployment", "bootc-operator-controller-manager", "-n bootc-operator")["spec"]["selector"]["matchLabels"]
        if "control-plane" not in selector:
            raise RuntimeError(f"the original is not what was installed: {selector}")

    def let_windlass_work(self):
        """Until it has put its finalizer on the pool."""
        work = subprocess.Popen([BUILD / "windlass", "run", "--apis", "bootc", "--namespace", "bootc-operator", "--fleet", "self"],
                                env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        try:
            while not self.get("bootcnodepool", "workers")["metadata"].get("finalizers"):
                if time.monotonic() > end or work.poll() is not None:
                    raise RuntimeError("windlass does not work on the pool")
                time.sleep(0.3)
        finally:
            work.terminate()
            work.wait(timeout=10)

    def check_taken_over(self, controller):
        daemons = json.dumps(self.get("daemonset", "bootc-operator-daemon", "-n bootc-operator-daemon"))
        if "jlebon" in daemons:
            raise RuntimeError(f"something of the original is left in the daemons: {daemons}")
        left = self.shell("kubectl get deployment bootc-operator-controller-manager -n bootc-operator -o json --ignore-not-found")
        if ("windlass" in left) != controller or "jlebon" in left:
            raise RuntimeError(f"the controller is {left}")
        if "manager-role" in self.shell("kubectl get clusterroles -o name") + self.shell("kubectl get clusterrolebindings -o name"):
            raise RuntimeError("roles of the original are left")


def run(c):
    total = {"ways": 0, "back": 0, "refused": 0}
    c.install_original()
    c.shell(f"kubectl create -f - <<'POOL'\n{json.dumps(POOL)}\nPOOL")
    uid = c.get("bootcnodepool", "workers")["metadata"]["uid"]
    home, back = BLOCKS["The cluster that Windlass runs on"], BLOCKS["Back"]
    original_goes, helm, kustomize, one_file = home

    # Without the first step each way fails, as the page says.
    for text, why in [(helm.replace("--take-ownership", ""), "cannot be imported"),
                      ("kubectl apply --server-side -k deploy", "conflict"),
                      ("kubectl apply -f deploy/install.yaml", "field is immutable"),
                      ("windlass cluster add prod-eu-1 --context home --namespace bootc-operator --yes", "--take-over")]:
        said = c.shell(text, fails=True)
        if why not in said:
            raise RuntimeError(f"{text.strip()}\nwas to fail with \"{why}\":\n{said}")
        total["refused"] += 1

    def there_and_back(steps, back_steps, controller):
        for text in steps:
            c.shell(text)
        c.check_taken_over(controller)
        c.let_windlass_work()
        total["ways"] += 1
        for text in back_steps:
            c.shell(text)
        c.install_original()
        pool = c.get("bootcnodepool", "workers")
        if pool["metadata"]["uid"] != uid or pool["metadata"].get("finalizers") or pool["spec"]["image"] != POOL["spec"]["image"]:
            raise RuntimeError(f"the pool is another one: {pool}")
        total["back"] += 1

    from_helm, otherwise, finalizer = back
    there_and_back([original_goes, helm], [from_helm, finalizer], True)
    there_and_back([original_goes, kustomize], [otherwise, finalizer], True)
    there_and_back([original_goes, one_file], [otherwise, finalizer], True)
    there_and_back(BLOCKS["A cluster of a fleet"], ["windlass cluster remove prod-eu-1 prod-eu-1 --context home --namespace bootc-operator --yes", finalizer], False)

    # The original, which knows no finalizer, can delete the pool.
    c.shell("kubectl delete bootcnodepool workers --timeout=30s")
    print("## " + json.dumps(total))


with tempfile.TemporaryDirectory(prefix="windlass-migrating-") as where:
    run(Cluster(pathlib.Path(where)))
