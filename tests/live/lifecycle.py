#!/usr/bin/env python3
"""How `windlass run` starts and ends: what counts of its settings, signals, `./dev run-pid` and `./dev stop`, whom it takes for a cluster, and that
dead clusters make it no less ready. On the embedded API server; needs nothing but kubectl."""
import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
from waits import check, free_port, until

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
QUIET = {k: v for k, v in os.environ.items() if not k.startswith(("WATCH_", "CHART_", "POD_", "KUBECONFIG"))}
counts = {}


class Service:
    """`windlass run`, with its log and its health port."""

    all = []  # so that none outlives the test

    def __init__(self, folder, name, *arguments, **environment):
        self.log, self.at = folder / f"{name}.log", free_port()
        command = [BUILD / "windlass", "run", "--metrics-bind-address", "0", "--health-probe-bind-address", f"127.0.0.1:{self.at}"]
        with open(self.log, "w") as out:
            self.process = subprocess.Popen([*command, *arguments], stdout=out, stderr=out, env=QUIET | environment)
        Service.all.append(self.process)

    def text(self):
        return self.log.read_text()

    def ask(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.at}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except OSError as why:
            return getattr(why, "code", 0), ""

    def ready(self):
        until(lambda: self.ask("/readyz")[0] == 200, f"{self.log.name} is ready: {self.text()[-500:]}")
        return self

    def end(self, how=signal.SIGTERM, limit=4.0):
        began = time.monotonic()
        self.process.send_signal(how)
        code = self.process.wait(20)
        took = time.monotonic() - began
        check(code == 0 and took < limit, f"{self.log.name} ended with {code} after {took:.1f} s")
        return took


def settings_of(folder, home, _):
    """C1, C2, C5: what the line of the start says."""
    s = Service(folder, "defaults", "--kubeconfig", home, "--apis", "tenants,kryptondeployments").ready()
    for shown in ("chart-repo=https://charts.jetstack.io (default)", "chart-name=cert-manager (default)", "chart-version=1.19.1 (default)",
                  "namespace=default (default)", "kubeconfig-key=kubeconfig (default)", "ensure-watch-crds=false (default)",
                  r'watch-namespaces=\"\" (default)', "tenant-drift=report (default)"):
        check(shown in s.text(), f"the line of the start lacks {shown}")
        counts["settings"] = counts.get("settings", 0) + 1
    s.end()
    values = folder / "values.yaml"
    values.write_text("v: 1\n")
    s = Service(folder, "variables", "--kubeconfig", home, "--apis", "tenants", "--namespace", "a", "--chart-values-file", "/nowhere",
                POD_NAMESPACE="b", CHART_VALUES_FILE=str(values)).ready()
    check("namespace=a (flag)" in s.text(), "--namespace beats POD_NAMESPACE")
    check(f"chart-values-file={values} (env CHART_VALUES_FILE)" in s.text(), "a variable beats its flag")
    s.end()
    for variables in ({"WATCH_CLUSTER_KUBECONFIG": home}, {"WATCH_KUBECONFIG": home, "WATCH_CLUSTER_KUBECONFIG": "/nowhere"}):
        s = Service(folder, "home", **variables).ready()
        check(f"{next(iter(variables))}" in s.text(), "the start says which variable leads home")
        s.end()
        counts["settings"] += 2


def signals(folder, home, server):
    """L1, L3: one ends it in order, two at once."""
    s = Service(folder, "idle", "--kubeconfig", home).ready()
    counts["term_s"] = round(s.end(limit=1.0), 2)
    subprocess.run([kubectl(), "--kubeconfig", home, "create", "namespace", "bootc-operator"], check=True, capture_output=True)
    s = Service(folder, "twice", "--kubeconfig", home, "--leader-elect").ready()
    held = [kubectl(), "--kubeconfig", home, "get", "leases", "-A", "-o", "jsonpath={.items[*].spec.holderIdentity}"]
    until(lambda: subprocess.run(held, capture_output=True, text=True).stdout.strip(), "it leads")
    server.send_signal(signal.SIGSTOP)  # giving the Lease back takes as long as somebody answers
    try:
        s.process.terminate()
        time.sleep(0.3)
        check(s.process.poll() is None, "it waits for its Lease to be given back")
        s.process.terminate()
        code = s.process.wait(1)
        check(code == 1, f"ended with {code} by a second signal")
    finally:
        server.send_signal(signal.SIGCONT)
    counts["second_signal"] = code


def one_leader(folder, home, _):
    """Two processes on one host, as two units or two machines of one image are: one of them leads, and the other one when it has ended."""
    hosts = [("one-host", {}), ("one-pod", {"POD_NAME": "windlass-0"})]  # by hand, or hostNetwork without the downward API
    for name, variables in hosts:
        both = [Service(folder, f"{name}-{i}", "--kubeconfig", home, "--leader-elect", **variables) for i in (1, 2)]
        leads = lambda: [s for s in both if "became leader" in s.text()]  # noqa: E731
        until(leads, "one of them leads")
        time.sleep(6)  # three renewals: whoever took the Lease for its own would have led by now
        check(len(leads()) == 1, f"{len(leads())} of two processes lead: {[s.text()[-300:] for s in leads()]}")
        first = leads()[0]
        first.end()
        second = both[1 - both.index(first)]
        until(lambda: "became leader" in second.text(), "the other one leads", 30)
        second.end()
        counts["leaders"] = counts.get("leaders", 0) + 1


def pid_file(folder, home, _):
    """L4: started and stopped by its PID file, and nothing is left."""
    file = folder / "pid"
    environment = QUIET | {"WINDLASS_PID_FILE": str(file)}

    def dev(*arguments):
        return subprocess.run([ROOT / "dev", *arguments], env=environment, capture_output=True, text=True, timeout=300)

    none = dev("stop")
    check(none.returncode == 0 and "nothing runs" in none.stdout, f"stop without a file: {none}")
    started = dev("run-pid", "--kubeconfig", home, "--metrics-bind-address", "0", "--health-probe-bind-address", "0")
    check(started.returncode == 0 and file.exists(), f"run-pid: {started}")
    pid = int(file.read_text())
    os.kill(pid, 0)
    again = dev("run-pid", "--kubeconfig", home)
    check(again.returncode != 0 and str(pid) in again.stderr, f"a second one: {again}")
    stopped = dev("stop")
    check(stopped.returncode == 0 and not file.exists(), f"stop: {stopped}")
    until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "it has ended")
    counts["stopped"] = 1


def fleet(folder, home, _):
    """D2 and M2: only labelled Secrets of the namespace are clusters, and the dead ones make it no less ready."""
    config = json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                         "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{free_port()}"}}], "users": [{"name": "u", "user": {}}]})
    label = "sigs.k8s.io/multicluster-runtime-kubeconfig"
    for ns, name, value in (("default", "dead-1", "true"), ("default", "dead-2", "true"), ("default", "no", "false"), ("default", "bare", None),
                            ("kube-system", "elsewhere", "true")):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": ns, "labels": {label: value} if value else {}},
                  "data": {"kubeconfig": base64.b64encode(config.encode()).decode()}}
        subprocess.run([kubectl(), "--kubeconfig", home, "apply", "-f", "-"], input=json.dumps(secret), text=True, check=True, capture_output=True)
    s = Service(folder, "fleet", "--kubeconfig", home, "--fleet", "secrets").ready()
    names = lambda: sorted(c["name"] for c in json.loads(s.ask("/clusters")[1] or "[]")
                          if not c.get("home") and c["name"] != "self-cluster")  # noqa: E731
    until(lambda: names() == ["dead-1", "dead-2"], "two Secrets are clusters")
    time.sleep(3)
    check(names() == ["dead-1", "dead-2"], f"others were taken for clusters: {names()}")
    check(s.ask("/readyz")[0] == 200 and s.ask("/healthz")[0] == 200, "ready and healthy while every remote is dead")
    counts["dead"] = 2
    s.end()


def mid_operation(folder, home, _):
    """L2: an install that waits for pods which never come is ended in order, and nothing is left pending."""
    helm = [BUILD / "windlass", "helm"]
    charts = folder / "charts"
    charts.mkdir()
    for command in (["create", "web"], ["package", "web", "--version", "1.0.0"], ["repo", "index", "."]):
        subprocess.run([*helm, *command], cwd=charts, check=True, capture_output=True)
    at = free_port()
    served = subprocess.Popen([sys.executable, "-m", "http.server", str(at), "--bind", "127.0.0.1", "--directory", charts],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    Service.all.append(served)
    ask = [kubectl(), "--kubeconfig", home]
    tenant = {"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant", "metadata": {"name": "acme", "namespace": "default"}, "spec": {}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "here", "namespace": "default",
                                                                 "labels": {"sigs.k8s.io/multicluster-runtime-kubeconfig": "true"}},
              "data": {"kubeconfig": base64.b64encode(pathlib.Path(home).read_bytes()).decode()}}

    def records(status):
        out = subprocess.run([*ask, "-n", "acme", "get", "secrets", "-l", f"owner=helm,status={status}", "-o", "name"], capture_output=True, text=True)
        return out.stdout.split()

    arguments = ["--kubeconfig", home, "--apis", "tenants", "--fleet", "secrets", "--no-self-cluster", "--chart-repo", f"http://127.0.0.1:{at}",
                 "--chart-name", "web", "--chart-version", "1.0.0"]
    subprocess.run([*ask, "apply", "-f", "-"], input=json.dumps(secret), text=True, check=True, capture_output=True)
    s = Service(folder, "busy", *arguments).ready()
    apply = lambda: subprocess.run([*ask, "apply", "-f", "-"], input=json.dumps(tenant), text=True, capture_output=True).returncode == 0  # noqa: E731
    until(apply, "the kind is there")
    until(lambda: records("pending-install"), "an install is under way")
    counts["term_mid_operation_s"] = round(s.end(), 2)
    check(not records("pending-install"), f"left pending: {s.text()[-800:]}")
    check(records("failed"), "the record says how it ended")
    again = Service(folder, "after", *arguments).ready()
    until(lambda: records("pending-install") or records("pending-upgrade") or records("deployed"), "the next one goes on", 60)
    again.end()
    check(not records("pending-install") and not records("pending-upgrade"), "left pending by the second")
    subprocess.run([*ask, "-n", "default", "delete", "secret", "here"], check=True, capture_output=True)


def kubectl():
    assets = os.environ.get("KUBEBUILDER_ASSETS") or pathlib.Path.home() / ".cache/windlass/envtest"
    return pathlib.Path(assets) / "kubectl"


def main():
    if not kubectl().exists():
        print(f"live: SKIPPED: no kubectl at {kubectl()}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = subprocess.Popen([BUILD / "windlass", "apiserver", "--dir", folder / "home"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            home = folder / "home" / "kubeconfig"
            until(home.exists, "an API server")
            for part in (settings_of, signals, one_leader, pid_file, mid_operation, fleet):
                part(folder, str(home), server)
        finally:
            for process in [server, *Service.all]:
                process.kill()
                process.wait()
    print(json.dumps({"live": "lifecycle"} | counts))


main()
