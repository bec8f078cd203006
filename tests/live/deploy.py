#!/usr/bin/env python3
"""Installs what deploy/ ships on a real API server with RBAC and admission on, and rolls an image with it: the pods that its
controllers would make, under their own ServiceAccounts (tokens bound to the pod, by TokenRequest) and with their own
arguments. Nothing they ask may be forbidden, and a daemon may not speak for another node. Plays the kubelet and the
controllers of Deployment and DaemonSet, which no bare API server has.

    WINDLASS_LIVE_KUBECONFIG=F WINDLASS_LIVE_AUDIT=LOG KUBEBUILDER_ASSETS=D tests/live/deploy.py BUILD_FOLDER [chart|kustomization|overlay…]

Ends with one JSON line: {"installs", "members", "rolled", "requests", "forbidden", "denied"}.
"""
import base64
import datetime
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
from rollout import BUILD, IMAGES, KUBECONFIG, KUBECTL, ROOT, Machine, apply, get, kubectl, report_node
import rollout

from waits import free_port

AUDIT = pathlib.Path(os.environ["WINDLASS_LIVE_AUDIT"])
FIELDS = {"metadata.namespace": lambda pod: pod["metadata"]["namespace"], "metadata.name": lambda pod: pod["metadata"]["name"],
          "spec.nodeName": lambda pod: pod["spec"]["nodeName"]}


def fails(*command, text=None):
    """What it said when it failed; None when it did not."""
    done = subprocess.run([*KUBECTL, *command], input=text, capture_output=True, text=True, timeout=60)
    return done.stderr if done.returncode else None


def remove_kinds():
    """Also what waits for a controller that is gone."""
    kinds = [f"{k}.node.bootc.dev" for k in ("bootcnodepools", "bootcnodes", "bootcoperatorconfigs")]
    kubectl("delete", "crd", "--ignore-not-found", "--wait=false", *kinds)
    for kind in kinds:
        for name in subprocess.run([*KUBECTL, "get", kind, "-o", "name"], capture_output=True, text=True, timeout=60).stdout.split():
            fails("patch", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    kubectl("wait", "--for=delete", "--timeout=30s", *[f"crd/{k}" for k in kinds])


class Pod:
    """A pod of a workload that is installed, as its controller makes it, with the token that the kubelet would mount."""

    def __init__(self, workload, name, node, folder):
        template = workload["spec"]["template"]
        self.object = {"apiVersion": "v1", "kind": "Pod",
                       "metadata": {"name": name, "namespace": workload["metadata"]["namespace"], "labels": template["metadata"]["labels"],
                                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": workload["kind"], "name": workload["metadata"]["name"],
                                                         "uid": workload["metadata"]["uid"], "controller": True}]},
                       "spec": template["spec"] | {"nodeName": node, "automountServiceAccountToken": False}}
        apply(self.object)  # admission has its say: Pod Security, priority classes
        self.namespace, self.account = self.object["metadata"]["namespace"], template["spec"]["serviceAccountName"]
        self.token = kubectl("create", "token", self.account, "-n", self.namespace, "--bound-object-kind", "Pod", "--bound-object-name", name).strip()
        config = json.loads(kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        config["users"] = [{"name": "admin", "user": {"token": self.token}}]
        self.kubeconfig = folder / f"{name}.kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))
        container = template["spec"]["containers"][0]
        self.environment = {e["name"]: e["value"] if "value" in e else FIELDS[e["valueFrom"]["fieldRef"]["fieldPath"]](self.object)
                            for e in container.get("env", [])}
        words = container["command"] + container.get("args", [])
        program = words[0]
        if program not in ("windlass", "windlass-node"):
            raise RuntimeError(f"{name} runs {program}")
        # $(NAME) as the kubelet expands it. Every port becomes a free one: here are all pods on one host.
        words = [re.sub(r"\$\((\w+)\)", lambda m: self.environment[m[1]], w) for w in words[1:]]
        self.ports = {}
        for i, word in enumerate(words):
            if m := re.fullmatch(r"--([a-z]+)(-probe)?-bind-address=:\d+", word):
                self.ports[m[1]] = free_port()
                words[i] = word[:word.rindex(":")] + f"127.0.0.1:{self.ports[m[1]]}"
        self.command = [BUILD / program, *words]

    def start(self, log, *more, environment={}):
        # POD_NAMESPACE and the rest come from the pod alone.
        around = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG")} | {"HOME": "/nowhere"}
        if os.geteuid() != 0:
            return subprocess.Popen([*self.command, *more], stdout=log, stderr=subprocess.STDOUT,
                                    env=around | self.environment | environment | {"KUBECONFIG": str(self.kubeconfig)})
        # As in a pod: the address in the environment, token, authority and namespace in files, a name that is resolved.
        cluster = json.loads(self.kubeconfig.read_text())["clusters"][0]["cluster"]
        mounted = self.kubeconfig.with_suffix(".mounted")
        mounted.mkdir(exist_ok=True)
        (mounted / "token").write_text(self.token)
        (mounted / "namespace").write_text(self.namespace)
        (mounted / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        (mounted / "hosts").write_text("127.0.0.1 localhost kubernetes.default.svc\n")
        inside = ('set -e; mount -t tmpfs none /run; mkdir -p /run/secrets/kubernetes.io/serviceaccount; '
                  'mount --bind "$0" /run/secrets/kubernetes.io/serviceaccount; mount --bind "$0/hosts" /etc/hosts; exec "$@"')
        return subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", inside, mounted, *self.command, *more], stdout=log, stderr=subprocess.STDOUT,
                                env=around | self.environment | environment | {"KUBERNETES_SERVICE_HOST": "kubernetes.default.svc",
                                                                              "KUBERNETES_SERVICE_PORT": cluster["server"].rsplit(":", 1)[1]})

    def patch_status(self, node):
        return fails("--kubeconfig", str(self.kubeconfig), "patch", "bootcnode", node, "--subresource=status", "--type=merge", "-p",
                     json.dumps({"status": {"observedGeneration": 1}}))


class DaemonMachine(Machine):
    """A node's host; the daemon is the DaemonSet's pod, which comes once its node selector fits."""

    def __init__(self, name, folder, workload):
        self.workload, self.pod = workload, None
        super().__init__(name, folder)

    def start(self):
        self.pod = self.pod or Pod(self.workload, f"daemon-{self.name}", self.name, self.folder.parent)
        self.daemon = self.pod.start(self.log, "--host-root", str(self.folder),
                                     environment={"FAKE_HOST": str(self.folder), "PATH": f"{BUILD / 'fake_host_bin'}:{os.environ['PATH']}"})


def chart(_folder, namespace):
    """Installed as a release, under names of its own."""
    done = subprocess.run([BUILD / "windlass", "helm", "install", "windlass", ROOT / "deploy/chart", "--kubeconfig", KUBECONFIG, "-n", namespace,
                           "--create-namespace", "--set", "image.registry=registry.example.com,name=windlass,daemon.asKubelet=true,daemon.extraArgs[0]=--bootc-poll-interval=60"], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"helm install: {done.stderr.strip()}")


def kustomization(_folder, _namespace):
    kubectl("apply", "--server-side", "-k", str(ROOT / "deploy"))
    # The same objects in one file.
    diff = subprocess.run([*KUBECTL, "diff", "--server-side", "--force-conflicts", "-f", str(ROOT / "deploy/install.yaml")], capture_output=True, text=True, timeout=60)
    if diff.returncode:
        raise RuntimeError(f"deploy/install.yaml differs from the kustomization: {diff.stdout}{diff.stderr}")


def overlay(folder, namespace):
    """A kustomization of a user's."""
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
            "images": [{"name": "registry.example.com/windlass", "newName": "registry.example.net/windlass", "newTag": "edge"}]}
    roots = {name: folder / "overlay" / name for name in ("base", "daemon", "all")}
    for name, own in [("base", namespace), ("daemon", f"{namespace}-daemon")]:
        roots[name].mkdir(parents=True)
        (roots[name] / "kustomization.yaml").write_text(json.dumps(head | {"namespace": own, "resources": [os.path.relpath(ROOT / "deploy" / name, roots[name])]}))
    roots["all"].mkdir()
    crds = [os.path.relpath(f, roots["all"]) for f in (ROOT / "deploy/crds").glob("bootc*.yaml")]
    (roots["all"] / "kustomization.yaml").write_text(json.dumps(head | {"resources": [*crds, "../base", "../daemon"], "patches": [
        {"target": {"kind": "RoleBinding", "name": name}, "patch": json.dumps([{"op": "replace", "path": "/subjects/0/namespace", "value": of}])}
        for name, of in (("bootc-operator-daemon$", f"{namespace}-daemon"), ("bootc-operator-daemon-waves", namespace))]}))
    kubectl("apply", "--server-side", "-f", "-", text=kubectl("kustomize", str(roots["all"]), "--load-restrictor=LoadRestrictionsNone"))
    [deployed] = get("deployments", "-n", namespace)
    if (image := deployed["spec"]["template"]["spec"]["containers"][0]["image"]) != "registry.example.net/windlass:edge":
        raise RuntimeError(f"the overlay's image became {image}")


class Install:
    def __init__(self, how, namespace, folder):
        self.how, self.namespace, self.folder, self.install = how.__name__, namespace, folder, how
        self.daemon_namespace = f"{namespace}-daemon"
        self.begun = datetime.datetime.now(datetime.timezone.utc).isoformat()
        folder.mkdir()
        self.prefix = f"deploy-{namespace}"
        self.nodes = [f"{self.prefix}-{i}" for i in range(1, 4)]
        self.machines, self.controller, self.rolled = [], None, 0

    def apply(self):
        self.install(self.folder, self.namespace)
        kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "crd/bootcnodes.node.bootc.dev", "--timeout=20s")
        [self.deployment] = get("deployments", "-n", self.namespace, "-l", "app.kubernetes.io/component=controller")
        [self.daemons] = get("daemonsets", "-n", self.daemon_namespace, "-l", "app.kubernetes.io/component=daemon")

    def make_nodes(self):
        apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{self.prefix}-control"}})
        for name in self.nodes:
            apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": self.prefix}}})
            report_node(name, True, f"boot-{name}")
            apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-app", "namespace": "default"},
                   "spec": {"nodeName": name, "automountServiceAccountToken": False, "containers": [{"name": "main", "image": "live/app:1"}]}})

    def start_controller(self):
        # On a node of no pool: whoever would make it again elsewhere is not played here.
        self.controller_pod = Pod(self.deployment, "controller-0", f"{self.prefix}-control", self.folder)
        self.controller = self.controller_pod.start(open(self.folder / "controller.log", "a"))

    def set_image(self, image):
        apply({"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": self.prefix},
               "spec": {"nodeSelector": {"matchLabels": {"pool": self.prefix}}, "image": {"ref": image}, "rollout": {"maxUnavailable": 2}}})

    def place_daemons(self):
        wanted = self.daemons["spec"]["template"]["spec"]["nodeSelector"]
        there = {m.name for m in self.machines}
        for node in get("nodes", "-l", f"pool={self.prefix}"):
            name = node["metadata"]["name"]
            if name not in there and wanted.items() <= node["metadata"]["labels"].items():
                self.machines.append(DaemonMachine(name, self.folder / name, self.daemons))

    def wait_for(self, image, limit=240):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if self.controller.poll() is not None:
                raise RuntimeError(f"{self.how}: the controller ended with {self.controller.returncode}")
            self.place_daemons()
            for machine in self.machines:
                machine.tick()
            # Those of this install are ended by nobody else.
            for pod in get("pods", "-n", "default"):
                if "deletionTimestamp" in pod["metadata"]:
                    kubectl("delete", "pod", pod["metadata"]["name"], "-n", "default", "--grace-period=0", "--force", "--wait=false", "--ignore-not-found")
            pool = json.loads(kubectl("get", "bootcnodepool", self.prefix, "-o", "json"))
            status = pool.get("status", {})
            if status.get("targetDigest") == image.split("@")[1] and status.get("updatedCount") == len(self.nodes) == status.get("nodeCount") \
                    and rollout.condition(pool, "UpToDate")[1] == "AllUpdated":
                return
            time.sleep(0.2)
        raise RuntimeError(f"{self.how}: not on {image[-8:]} within {limit} s: {rollout.condition(pool, 'UpToDate')} {rollout.condition(pool, 'Degraded')}")

    def a_secret_is_a_cluster(self):
        """The Secret of a further cluster joins the fleet while the controller runs, and leaves it. It is this server under another name."""
        def names():
            with urllib.request.urlopen(f"http://127.0.0.1:{self.controller_pod.ports['health']}/clusters", timeout=5) as said:
                return {c["name"]: c["state"] for c in json.load(said)}

        def until(true):
            end = time.monotonic() + 60
            while not true(seen := names()):
                if time.monotonic() > end:
                    raise RuntimeError(f"{self.how}: the fleet is {seen}")
                time.sleep(0.2)

        kubectl("create", "secret", "generic", "second", "-n", self.namespace, f"--from-file=kubeconfig={self.controller_pod.kubeconfig}")
        kubectl("label", "secret", "second", "-n", self.namespace, "sigs.k8s.io/multicluster-runtime-kubeconfig=true")
        until(lambda seen: seen.get("second") == "Twin")
        kubectl("delete", "secret", "second", "-n", self.namespace)
        until(lambda seen: "second" not in seen)

    def probes_answer(self, running):
        """Every probe that is declared, at its port; the port that the manifest names must be the one that is served."""
        for workload, pod in running:
            container = workload["spec"]["template"]["spec"]["containers"][0]
            for kind in ("livenessProbe", "readinessProbe"):
                if kind in container:
                    path = container[kind]["httpGet"]["path"]
                    with socket.create_connection(("127.0.0.1", pod.ports["health"]), 5) as s:
                        s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
                        said = s.makefile("rb").read()
                    if not said.startswith(b"HTTP/1.1 200"):
                        raise RuntimeError(f"{self.how}: {kind} {path}: {said[:80]!r}")

    def others_are_denied(self):
        """How many attempts to speak for somebody else were denied; all of them must be."""
        first, second = self.machines[:2]
        if said := first.pod.patch_status(first.name):
            raise RuntimeError(f"{self.how}: a daemon may not write its own node: {said}")
        said = first.pod.patch_status(second.name)
        if not said or f'the daemon on node "{first.name}" may not write BootcNode "{second.name}"' not in said:
            raise RuntimeError(f"{self.how}: {first.name} wrote the status of {second.name}: {said}")
        # A token that no pod stands behind names no node.
        unbound = kubectl("create", "token", first.pod.account, "-n", self.daemon_namespace).strip()
        first.pod.kubeconfig.write_text(first.pod.kubeconfig.read_text().replace(first.pod.token, unbound))
        said = first.pod.patch_status(first.name)
        if not said or "may not write BootcNode" not in said:
            raise RuntimeError(f"{self.how}: an unbound token wrote a status: {said}")
        for verb in ("create", "update", "patch", "delete"):
            if not fails("auth", "can-i", verb, "bootcnodes.node.bootc.dev", "--as", f"system:serviceaccount:{self.daemon_namespace}:{first.pod.account}"):
                raise RuntimeError(f"{self.how}: a daemon may {verb} BootcNodes")
        # The kubelet's own credentials, where they are asked for.
        kubelet = ["--as", f"system:node:{first.name}", "--as-group", "system:nodes"]
        patch = ["--subresource=status", "--type=merge", "-p", json.dumps({"status": {"observedGeneration": 1}})]
        own, other = (fails("patch", "bootcnode", name, *patch, *kubelet) for name in (first.name, second.name))
        if (own is None) != (self.install is chart) or not other or (self.install is chart and "may not write BootcNode" not in other):
            raise RuntimeError(f"{self.how}: a kubelet: own {own}, another's {other}")
        return 3

    def stop(self):
        for machine in self.machines:
            machine.kill()
        if self.controller and self.controller.poll() is None:
            self.controller.terminate()
            self.controller.wait(timeout=10)

    def remove(self):
        kubectl("delete", "bootcnodepool", self.prefix, "--wait=false", "--ignore-not-found")
        for node in [*self.nodes, f"{self.prefix}-control"]:
            kubectl("delete", "bootcnode", node, "--wait=false", "--ignore-not-found")
            kubectl("delete", "node", node, "--wait=false", "--ignore-not-found")
        for kind in ("validatingadmissionpolicybindings", "validatingadmissionpolicies", "clusterrolebindings", "clusterroles"):
            if ours := [o["metadata"]["name"] for o in get(kind) if "app.kubernetes.io/name" in o["metadata"].get("labels", {})]:
                kubectl("delete", kind, *ours)
        for pod in get("pods", "-A"):
            kubectl("delete", "pod", pod["metadata"]["name"], "-n", pod["metadata"]["namespace"], "--grace-period=0", "--force", "--wait=false", "--ignore-not-found")
        # Nobody here empties a namespace that is deleted.
        kubectl("delete", "deployments,daemonsets,services,networkpolicies,poddisruptionbudgets,serviceaccounts,roles,rolebindings,leases,secrets", "--all",
                "-n", self.namespace, "--wait=false")
        kubectl("delete", "daemonsets,networkpolicies,serviceaccounts,roles,rolebindings", "--all", "-n", self.daemon_namespace, "--wait=false")
        rollout.forget_namespace(self.daemon_namespace)

    def answers(self):
        """What the API server answered to the ServiceAccounts of this install, not to those of that name before it."""
        prefixes = tuple(f"system:serviceaccount:{ns}:" for ns in (self.namespace, self.daemon_namespace))
        return [e for e in map(json.loads, AUDIT.read_text().splitlines())
                if e["user"]["username"].startswith(prefixes) and e["requestReceivedTimestamp"] >= self.begun]

    def log_tail(self):
        for log in sorted(self.folder.glob("*.log")):
            print(f"--- {log.name}\n" + "".join(log.read_text().splitlines(keepends=True)[-15:]))


def run(install):
    install.apply()
    install.make_nodes()
    install.set_image(IMAGES[0])
    install.start_controller()
    install.wait_for(IMAGES[0])
    install.set_image(IMAGES[1])
    install.wait_for(IMAGES[1])
    install.rolled = len(install.nodes)
    install.a_secret_is_a_cluster()
    install.probes_answer([(install.deployment, install.controller_pod), (install.daemons, install.machines[0].pod)])
    install.stop()
    if rollout.problems:
        raise RuntimeError(f"{install.how}: {'; '.join(rollout.problems)}")
    time.sleep(0.5)  # the audit log's last lines
    answers = install.answers()
    forbidden = [f"{a['user']['username']}: {a['verb']} {a['requestURI']}" for a in answers if a.get("responseStatus", {}).get("code") in (401, 403)]
    for who in ("controller", "daemon"):
        if not any(who in a["user"]["username"] for a in answers):
            raise RuntimeError(f"{install.how}: the audit log knows of no request of the {who}")
    for line in sorted(set(forbidden)):
        print(f"live deploy: FORBIDDEN: {line}")
    return len(answers), len(forbidden), install.others_are_denied()


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-live-"))
    total = {"installs": 0, "members": 0, "rolled": 0, "requests": 0, "forbidden": 0, "denied": 0}
    problem = None
    # A chart does not take over kinds that somebody else installed, so it comes first.
    remove_kinds()
    for how, namespace in [(chart, "windlass-system"), (kustomization, "bootc-operator"), (overlay, "os-images")]:
        if sys.argv[2:] and how.__name__ not in sys.argv[2:]:
            continue
        install = None
        try:
            install = Install(how, namespace, folder / namespace)
            requests, forbidden, denied = run(install)
            total["installs"] += 1
            total["members"] += len(install.machines)
            total["rolled"] += install.rolled
            for name, n in [("requests", requests), ("forbidden", forbidden), ("denied", denied)]:
                total[name] += n
            print(f"live deploy: {install.how}: {len(install.machines)} members, {requests} requests, {forbidden} forbidden, {denied} denied")
        except Exception as why:  # noqa: BLE001  what a person needs is the logs
            problem = why
        finally:
            if install:
                install.stop()
                if problem:
                    install.log_tail()
                install.remove()
        if problem:
            break
    shutil.rmtree(folder, ignore_errors=True)
    if problem:
        print("live deploy: FAILED:", problem)
    print("##", json.dumps(total))
    return 1 if problem or total["forbidden"] else 0


if __name__ == "__main__":
    sys.exit(main())
