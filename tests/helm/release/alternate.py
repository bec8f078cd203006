#!/usr/bin/env python3
"""Alternates `windlass helm` and stock `helm` on one chart and a real API server: what one writes, the other reads.

    WINDLASS_LIVE_OWN_KUBECONFIG=F KUBEBUILDER_ASSETS=D tests/helm/release/alternate.py BUILD_FOLDER [alternate] [kill]

Runs the same steps four times (ours, theirs, and both ways of taking turns) in namespaces of their own. After each step
the records and objects of all four are equal but for times, and both tools print the same bytes about them. Then our
commands are killed at every write they make, and recovered. Plays the Job controller and the kubelet, which no bare API
server has. The peer is $HELM, ~/go/bin/helm or the one on PATH; without it the test is skipped.
"""
import base64
import gzip
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
KUBECONFIG = os.environ.get("WINDLASS_LIVE_OWN_KUBECONFIG", "")
HELM = os.environ.get("HELM") or next((str(p) for p in [pathlib.Path.home() / "go/bin/helm"] if p.exists()), None) or shutil.which("helm")
SKIPPED = 77
CHART = str(HERE / "chart")
CONFIG = pathlib.Path(KUBECONFIG).read_text() if KUBECONFIG else ""


def field(name):
    return re.search(name + r':\s*"([^"]+)"', CONFIG).group(1)


def connect():
    host, port = re.match(r"https://([^:]+):(\d+)", field("server")).groups()
    trust = ssl.create_default_context(cafile=field("certificate-authority"))
    trust.check_hostname = False  # the certificate names kubernetes, and the loopback address has no name
    return http.client.HTTPSConnection(host, int(port), context=trust, timeout=60)


def api(method, path, body=None, kind="application/json"):
    connection = connect()
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": "Bearer " + field("token"), "Content-Type": kind, "Accept": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


class Controllers(threading.Thread):
    """Ends Jobs and Pods as their annotation `outcome` says."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over = threading.Event()

    def run(self):
        now = lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        while not self.over.wait(0.1):
            for job in api("GET", "/apis/batch/v1/jobs")[1].get("items", []):
                meta, status = job["metadata"], job.get("status", {})
                if status.get("conditions") or not meta["namespace"].startswith("alt-"):
                    continue
                good = meta.get("annotations", {}).get("outcome") != "failed"
                condition = lambda kind, reason: {"type": kind, "status": "True", "reason": reason, "message": "",
                                                  "lastProbeTime": now(), "lastTransitionTime": now()}
                if good:
                    ended = {"startTime": now(), "completionTime": now(), "succeeded": 1, "uncountedTerminatedPods": {},
                             "conditions": [condition("SuccessCriteriaMet", "CompletionsReached"), condition("Complete", "CompletionsReached")]}
                else:
                    ended = {"startTime": now(), "failed": 1, "uncountedTerminatedPods": {},
                             "conditions": [condition("FailureTarget", "BackoffLimitExceeded"), condition("Failed", "BackoffLimitExceeded")]}
                code, answer = api("PATCH", f"/apis/batch/v1/namespaces/{meta['namespace']}/jobs/{meta['name']}/status",
                                   {"status": ended}, "application/merge-patch+json")
                if code not in (200, 404):
                    print("job status:", code, answer.get("message"), file=sys.stderr)
            for pod in api("GET", "/api/v1/pods")[1].get("items", []):
                meta = pod["metadata"]
                if pod["status"].get("phase") == "Pending" and meta["namespace"].startswith("alt-"):
                    api("PATCH", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status",
                        {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")


def command(tool, namespace, *arguments):
    program = [str(BUILD / "windlass"), "helm"] if tool == "ours" else [HELM]
    return [*program, *arguments, "--kubeconfig", KUBECONFIG, "--namespace", namespace]


def run(tool, namespace, *arguments):
    done = subprocess.run(command(tool, namespace, *arguments), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


class Failures(list):
    def check(self, what, condition, detail=""):
        if not condition:
            self.append(what)
            print(f"FAILED: {what}\n{detail}", flush=True)

    def equal(self, what, a, b):
        if a != b:
            lines = [f"  {x!r}\n  {y!r}" for x, y in zip(str(a).splitlines(), str(b).splitlines()) if x != y][:3]
            self.check(what, False, "\n".join(lines) or f"  {a!r}\n  {b!r}")


FAILED = Failures()
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")


def records(namespace, release):
    """Every record as JSON text in its own order of members, and the labels of its Secret; times masked."""
    out = {}
    for secret in api("GET", f"/api/v1/namespaces/{namespace}/secrets?labelSelector=owner%3Dhelm,name%3D{release}")[1]["items"]:
        text = gzip.decompress(base64.b64decode(base64.b64decode(secret["data"]["release"]))).decode()
        labels = {k: "T" if k in ("modifiedAt", "createdAt") else v for k, v in secret["metadata"]["labels"].items()}
        text = TIME.sub("T", text.replace(namespace, "NS"))
        out[secret["metadata"]["name"]] = (secret["type"], labels, text)
    return out


def objects(namespace):
    out = {}
    for plural in ("configmaps", "secrets", "serviceaccounts"):
        for o in api("GET", f"/api/v1/namespaces/{namespace}/{plural}")[1]["items"]:
            meta = o["metadata"]
            if meta["name"].startswith("sh.helm.") or meta["name"] == "kube-root-ca.crt":
                continue
            out[plural + "/" + meta["name"]] = json.loads(json.dumps(
                {"labels": meta.get("labels"), "annotations": meta.get("annotations"), "data": o.get("data")}).replace(namespace, "NS"))
    return out


QUESTIONS = [["list"], ["list", "-o", "json"], ["list", "-o", "yaml", "--all"], ["list", "-q", "-a"], ["list", "--superseded", "--uninstalled"],
             ["list", "-f", "^w.b$", "--no-headers"], ["list", "--time-format", "2006-01-02", "-l", "owner=helm"],
             ["status", "web"], ["status", "web", "-o", "json"], ["status", "web", "-o", "yaml"], ["status", "web", "--show-desc"],
             ["status", "web", "--revision", "1"], ["history", "web"], ["history", "web", "-o", "json"], ["history", "web", "-o", "yaml"],
             ["history", "web", "--max", "2"], ["get", "all", "web"], ["get", "manifest", "web"], ["get", "hooks", "web"], ["get", "notes", "web"],
             ["get", "values", "web"], ["get", "values", "web", "-o", "json"], ["get", "values", "web", "--all", "-o", "yaml"],
             ["get", "values", "web", "-a"], ["get", "metadata", "web"], ["get", "metadata", "web", "-o", "json"],
             ["get", "metadata", "web", "-o", "yaml", "--revision", "1"],
             ["get", "all", "web", "--template", "{{.Release.Name}} {{.Release.Version}} {{.Release.Info.Status}} {{.Release.Chart.Metadata.Version}} "
              "{{.Release.Config}} {{range .Release.Hooks}}{{.Name}} {{.Events}} {{.LastRun.Phase}};{{end}} {{.Release.Info.Description}}"],
             ["status", "web", "--show-resources", "-o", "json"], ["get", "all", "web", "--template", "{{upper .Release.Name}}"], ["get", "all", "web", "--template", "{{.Release.Nope}}"], ["get", "manifest", "web", "--revision", "9"], ["status", "none"]]

STEPS = [("install", ["install", "web", CHART, "--set", "text=two,nested.c=4.5", "--labels", "team=blue"]),
         ("install again", ["install", "web", CHART]),
         ("upgrade", ["upgrade", "web", CHART, "--set", "text=three,extra=true", "--set-string", "s=7", "--description", "it is better"]),
         ("refused upgrade", ["upgrade", "web", CHART, "--set", "broken=true", "--reuse-values"]),
         ("failed upgrade", ["upgrade", "web", CHART, "--set", "outcome=failed", "--reset-then-reuse-values", "--timeout", "20s"]),
         ("rollback", ["rollback", "web", "1"]),
         ("reusing upgrade", ["upgrade", "web", CHART, "--reuse-values", "--set", "count=8", "--labels", "team=null,tier=x"]),
         ("atomic upgrade", ["upgrade", "web", CHART, "--atomic", "--set", "broken=true", "--timeout", "20s"]),
         ("upgrade or install", ["upgrade", "--install", "web", CHART, "--history-max", "4", "-o", "json"]),
         ("test", ["test", "web"]),
         ("dry run", ["upgrade", "web", CHART, "--dry-run=server", "--set", "text=dry,extra=true"]),
         ("uninstall, history kept", ["uninstall", "web", "--keep-history"]),
         ("uninstall again", ["uninstall", "web", "--keep-history"]),
         ("install over it", ["upgrade", "--install", "web", CHART]),
         ("uninstall", ["uninstall", "web", "--wait", "--timeout", "20s"]),
         ("uninstall nothing", ["uninstall", "web"])]


def make_namespace(name):
    api("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def alternate():
    orders = {"alt-ours": ["ours"], "alt-theirs": ["theirs"], "alt-both-a": ["ours", "theirs"], "alt-both-b": ["theirs", "ours"]}
    compared = 0
    for namespace in orders:
        make_namespace(namespace)
    for at, (name, arguments) in enumerate(STEPS):
        seen = {}
        for namespace, tools in orders.items():
            code, out, err = run(tools[at % len(tools)], namespace, *arguments)
            clean = lambda text: TIME.sub("T", text.replace(namespace, "NS"))
            err = clean(err)
            err = err[err.find("Error:"):] if "Error:" in err else ""  # warnings before it are the tools' own
            seen[namespace] = {"exit code": code, "output": clean(out), "error": err,
                               "records": records(namespace, "web"), "objects": objects(namespace)}
            answers = [(q, run("ours", namespace, *q), run("theirs", namespace, *q)) for q in QUESTIONS] if namespace.startswith("alt-both") else []
            for question, ours, theirs in answers:
                FAILED.equal(f"{name}, {namespace}: helm {' '.join(question)}", ours, theirs)
                compared += 1
        for part in seen["alt-theirs"]:
            for namespace in orders:
                ours, theirs = seen[namespace][part], seen["alt-theirs"][part]
                if isinstance(theirs, dict):
                    FAILED.equal(f"{name}, {namespace}: which {part}", sorted(ours), sorted(theirs))
                    for key in sorted(set(ours) & set(theirs)):
                        FAILED.equal(f"{name}, {namespace}: {part} {key}", ours[key], theirs[key])
                        compared += 1
                else:
                    FAILED.equal(f"{name}, {namespace}: {part}", ours, theirs)
                    compared += 1
    print(f"alternate: {len(STEPS)} steps in {len(orders)} orders, {compared} comparisons, {len(FAILED)} differences", flush=True)


class Proxy(http.server.ThreadingHTTPServer):
    """Forwards to the API server; after the n-th write it kills whoever sent it."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.arm(0, None)

    def arm(self, kill_at, victim):
        self.kill_at, self.victim, self.writes, self.hit = kill_at, victim, 0, False


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = connect()
        try:
            connection.request(self.command, self.path, body or None,
                               {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding")})
            answer = connection.getresponse()
            if self.command != "GET":
                with self.server.lock:
                    self.server.writes += 1
                    if self.server.writes == self.server.kill_at:
                        self.server.victim.kill()
                        self.server.hit = True
            self.send_response(answer.status)
            for k, v in answer.getheaders():
                if k.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(k, v)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while piece := answer.read1(65536):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
        finally:
            connection.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # the killed one


def killed_at(proxy, n, namespace, *arguments):
    """Runs our command through the proxy. True when it was killed."""
    line = command("ours", namespace, *arguments) + ["--kube-apiserver", f"http://127.0.0.1:{proxy.server_address[1]}"]
    with proxy.lock:  # no write is counted before its sender is known
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        proxy.arm(n, process)
    out, _ = process.communicate(timeout=120)
    if not proxy.hit:
        FAILED.check(f"{' '.join(arguments)} through the proxy", process.returncode == 0, out)
    return proxy.hit


def recovered(namespace, *arguments):
    """Repeats our command until nothing stands in its way; the deadline of what was left behind is four seconds."""
    if arguments[0] == "rollback":
        time.sleep(5.5)  # it does not refuse, so it is asked when the deadline (a second later) is over
    for _ in range(20):
        code, out, err = run("ours", namespace, *arguments)
        if code == 0 or "another operation" not in err:
            break
        time.sleep(0.5)
    return code, out + err


def kill():
    proxy = Proxy()
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    quick = ["--timeout", "3s"]
    install = ["install", "web", CHART, *quick]
    upgrade = ["upgrade", "web", CHART, "--set", "text=new,extra=true", *quick]
    # What is killed, what was there before, how we go on, and what the text is in the end (none: nothing is left).
    scenarios = {"install": (install, [], ["upgrade", "--install", "web", CHART, "--set", "text=new", *quick], "new"),
                 "upgrade": (upgrade, [install], upgrade, "new"),
                 "rollback": (["rollback", "web", "1", *quick], [install, upgrade], ["rollback", "web", "1", *quick], "one"),
                 "uninstall": (["uninstall", "web", *quick], [install], ["uninstall", "web", "--ignore-not-found", *quick], None)}
    kills = 0
    for name, (victim, before, again, text) in scenarios.items():
        for n in range(1, 100):
            namespace = f"alt-kill-{name}-{n}"
            make_namespace(namespace)
            for step in before:
                code, out, err = run("ours", namespace, *step)
                FAILED.check(f"{namespace}: {step[0]} before", code == 0, out + err)
            hit = killed_at(proxy, n, namespace, *victim)
            kills += hit
            if hit:
                code, said = recovered(namespace, *again)
                FAILED.check(f"{namespace}: recovery", code == 0, said)
            config = objects(namespace).get("configmaps/web-config")
            if text is None:
                FAILED.check(f"{namespace}: everything is gone", config is None and not records(namespace, "web"))
            else:
                want = text if hit or name != "install" else "one"
                FAILED.check(f"{namespace}: the text is {want}", config and config["data"]["text"] == want, str(config))
                code, out, err = run("theirs", namespace, "history", "web", "-o", "json")
                states = [r["status"] for r in json.loads(out or "[]")]
                FAILED.check(f"{namespace}: one deployed revision and none pending",
                             states.count("deployed") == 1 and not any(s.startswith("pending") for s in states), str(states) + err)
                code, out, err = run("theirs", namespace, "uninstall", "web", "--no-hooks")
                FAILED.check(f"{namespace}: stock helm takes it away", code == 0, out + err)
            api("DELETE", f"/api/v1/namespaces/{namespace}")
            if not hit:
                break
    print(f"kill: {kills} kills in {len(scenarios)} commands recovered, {len(FAILED)} failures in all", flush=True)


def main():
    if not KUBECONFIG or not HELM:
        print("alternate: SKIPPED: " + ("no WINDLASS_LIVE_OWN_KUBECONFIG" if not KUBECONFIG else "no stock helm (set HELM)"))
        return SKIPPED
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HELM_CACHE_HOME": home, "HELM_CONFIG_HOME": home, "HELM_DATA_HOME": home}
        controllers = Controllers()
        controllers.start()
        try:
            for part in sys.argv[2:] or ["alternate", "kill"]:
                {"alternate": alternate, "kill": kill}[part]()
        finally:
            controllers.over.set()
            for item in api("GET", "/api/v1/namespaces")[1]["items"]:
                if item["metadata"]["name"].startswith("alt-"):
                    api("DELETE", f"/api/v1/namespaces/{item['metadata']['name']}")
    return 1 if FAILED else 0


sys.exit(main())
