#!/usr/bin/env python3
"""docs/migrating/trustee-operator.md as it is written, on a real API server, with the original at work: its controller makes an instance, Windlass waits
beside it, takes the instance over and gives it back. WINDLASS_TRUSTEE_OPERATOR names a folder with a checkout of the original (v0.21) and its program
`manager`, built with CGO_ENABLED=0; without it, and without root, the test is skipped. No pods run there.

    WINDLASS_TRUSTEE_OPERATOR=D WINDLASS_LIVE_OWN_KUBECONFIG=F KUBEBUILDER_ASSETS=D tests/live/migrating_trustee.py BUILD_FOLDER

Ends with one JSON line: {"held", "taken", "back"}.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from waits import until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
ORIGINAL = os.environ.get("WINDLASS_TRUSTEE_OPERATOR")
if not ORIGINAL or os.geteuid() != 0:
    print("SKIPPED: WINDLASS_TRUSTEE_OPERATOR names no folder with the original, or this is not root")
    sys.exit(77)
ORIGINAL = pathlib.Path(ORIGINAL)
KUBECONFIG = os.environ["WINDLASS_LIVE_OWN_KUBECONFIG"]
KUBECTL = [os.path.join(os.environ["KUBEBUILDER_ASSETS"], "kubectl"), "--kubeconfig", KUBECONFIG]
NS = "trustee-operator-system"


def kubectl(*words, text=None):
    done = subprocess.run([*KUBECTL, *words], input=text, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def get(kind, name):
    text = kubectl("-n", NS, "get", kind, name, "-o", "json", "--ignore-not-found")
    return json.loads(text) if text.strip() else None


def condition(kind, name, of):
    return next((f"{c['status']}/{c['reason']}" for c in (get(kind, name) or {}).get("status", {}).get("conditions", []) if c["type"] == of), None)


def image():
    deployment = get("deployment", "trustee-deployment")
    return deployment and deployment["spec"]["template"]["spec"]["containers"][0]["image"]


def versions():
    """Of what the original makes, by kind and name."""
    return {kind: {o["metadata"]["name"]: o["metadata"]["resourceVersion"] for o in json.loads(kubectl("-n", NS, "get", kind, "-o", "json"))["items"]}
            for kind in ("deployments", "services", "configmaps", "secrets")}


class Programs:
    """The two controllers, each with a log of its own."""

    def __init__(self, folder):
        self.folder, self.running = folder, {}
        manager = (ORIGINAL / "config/manager/manager.yaml").read_text()
        self.variables = dict(re.findall(r"- name: (\w+)\n(?:\s*#.*\n)*\s*value: (\S+)", manager))
        self.root = folder / "root"  # the original reads /config/templates
        shutil.copytree(ORIGINAL / "config/templates", self.root / "config/templates")
        shutil.copy(ORIGINAL / "manager", self.root / "manager")
        config = kubectl("config", "view", "--raw", "--flatten", "-o", "json")
        (self.root / "kubeconfig").write_text(config)

    def start(self, name, command, environment):
        log = open(self.folder / f"{name}.log", "w")
        self.running[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)

    def start_original(self, **variables):
        # In a cluster the Lease's namespace is the pod's; the flag for it exists in controller-runtime's file of the pod alone.
        pod = self.root / "var/run/secrets/kubernetes.io/serviceaccount"
        pod.mkdir(parents=True, exist_ok=True)
        (pod / "namespace").write_text(NS)
        self.start("original", ["chroot", self.root, "/manager", "-kubeconfig", "/kubeconfig", "-leader-elect", "-health-probe-bind-address", "0"],
                   self.variables | {"PATH": os.environ["PATH"], "POD_NAMESPACE": NS} | variables)

    def start_windlass(self):
        self.start("windlass", [BUILD / "windlass", "run", "--apis", "compose", "--kubeconfig", KUBECONFIG, "--fleet", "self", "--namespace", "bootc-operator",
                                "--leader-elect"], {"PATH": os.environ["PATH"], "HOME": str(self.folder), "OPERATOR_IMAGE_NAME": "example.com/windlass:1"})

    def stop(self, name):
        if program := self.running.pop(name, None):
            program.terminate()
            program.wait(timeout=20)

    def stop_all(self):
        for name in list(self.running):
            self.stop(name)

    def say(self):
        for log in self.folder.glob("*.log"):
            print(f"--- {log.name}\n{log.read_text()[-3000:]}")


def run(programs):
    total = {"held": 0, "taken": 0, "back": 0}
    for name in (NS, "bootc-operator"):
        kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
    kubectl("apply", "-f", str(ORIGINAL / "config/crd/bases"))
    kubectl("wait", "--for=condition=Established", "crd/trusteeconfigs.confidentialcontainers.org", "--timeout=30s")
    programs.start_original()
    kubectl("-n", NS, "apply", "-f", str(ROOT / "tests/trustee/samples/trusteeconfig.yaml"))
    until(lambda: image(), "the original makes a Deployment", 60)
    theirs = image()
    before = get("trusteeconfig", "trusteeconfig-sample")
    keys = get("secret", "trusteeconfig-sample-auth-secret")["data"]
    made = versions()

    # 1: beside the original nothing is written.
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "deploy/crds/trustee"))
    programs.start_windlass()
    explain = [BUILD / "windlass", "explain", f"{NS}/trusteeconfig-sample", "--apis", "compose", "--kubeconfig", KUBECONFIG, "--fleet", "self"]
    until(lambda: "other-operator" in subprocess.run(explain, capture_output=True, text=True, timeout=60).stdout, "windlass is held by the other operator", 60)
    if (now := versions()) != made:
        raise RuntimeError(f"something was written beside the original: {made} {now}")
    total["held"] += 1

    # 4: the original goes, its Lease runs out.
    programs.stop("original")
    until(lambda: condition("trusteeconfig", "trusteeconfig-sample", "Composed") == "True/AsAsked", "the instance is composed as asked", 90)
    after = get("trusteeconfig", "trusteeconfig-sample")
    if after["metadata"]["uid"] != before["metadata"]["uid"] or after["spec"] != before["spec"]:
        raise RuntimeError(f"the instance is another one: {before} {after}")
    if get("deployment", "trustee-deployment")["spec"]["selector"]["matchLabels"] != {"app": "kbs"}:
        raise RuntimeError("the selector of the Deployment changed")
    if get("secret", "trusteeconfig-sample-auth-secret")["data"] != keys:
        raise RuntimeError("the instance has other keys")
    ours = image()
    total["taken"] += 1

    # Back: the original gets the image that runs, and takes the objects by their names.
    programs.stop("windlass")
    programs.start_original(KBS_IMAGE_NAME=ours, KBS_IMAGE_NAME_MICROSERVICES=ours)
    replicas = lambda: get("deployment", "trustee-deployment")["spec"]["replicas"]
    kubectl("-n", NS, "patch", "trusteeconfig", "trusteeconfig-sample", "--type=merge", "-p", '{"spec":{"kbsServiceType":"NodePort"}}')
    until(lambda: get("service", "kbs-service")["spec"]["type"] == "NodePort", "the original works on the instance again", 90)
    if image() != ours or replicas() != 1:
        raise RuntimeError(f"after the way back: {image()}, {replicas()} replicas")
    uid = get("trusteeconfig", "trusteeconfig-sample")["metadata"]["uid"]
    if uid != before["metadata"]["uid"]:
        raise RuntimeError("the instance is another one after the way back")
    kubectl("-n", NS, "delete", "trusteeconfig", "trusteeconfig-sample", "--timeout=60s")
    total["back"] += 1
    print(f"## the original ran {theirs}, Windlass {ours}")
    print("## " + json.dumps(total))


with tempfile.TemporaryDirectory(prefix="windlass-migrating-trustee-") as where:
    programs = Programs(pathlib.Path(where))
    try:
        run(programs)
    except BaseException:
        programs.say()
        raise
    finally:
        programs.stop_all()
