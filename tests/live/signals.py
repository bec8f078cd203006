#!/usr/bin/env python3
"""The stock pack disruption/signals beside Debian's Prometheus, which scrapes a real counter of errors behind a login, and beside a server that lies, hangs and
floods: a rollout halts on the counter with value and bound, waits while the other server gives no number, goes on after both, and is replayed without them.

    tests/live/signals.py BUILD_FOLDER

Needs kubectl and Debian's package prometheus. Starts an embedded API server, Prometheus and the others by itself.
"""
import base64
import ctypes
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from waits import check, free_port, until

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROMETHEUS, KUBECTL = shutil.which("prometheus"), shutil.which("kubectl")
ASSETS = os.environ.get("KUBEBUILDER_ASSETS")
if ASSETS and (pathlib.Path(ASSETS) / "kubectl").exists():
    KUBECTL = str(pathlib.Path(ASSETS) / "kubectl")
PASSWORD, SOAK, EVERY = "hunter2-of-prometheus", 10, 5  # a soak is long beside scrape, rate and look together
folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-signals-"))
children = []


def spawn(name, *command):
    with open(folder / f"{name}.log", "a") as log:
        children.append(subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL))
    return children[-1]


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def say(self, body, kind="application/json", status=200):
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the client has ended
            pass


class Shop(Quiet):
    """Counts requests; a share of them fails while `failing`."""
    failing = False
    requests = errors = 0

    def do_GET(self):
        Shop.requests += 100
        Shop.errors += 20 if Shop.failing else 0
        self.say(f'shop_requests_total {Shop.requests}\nshop_errors_total{{cluster="live"}} {Shop.errors}\n'.encode(), "text/plain; version=0.0.4")


def scalar(text):
    return json.dumps({"status": "success", "data": {"resultType": "scalar", "result": [time.time(), text]}}).encode()


class Peer(Quiet):
    """Says that it is a Prometheus."""
    does = "answers"

    def do_GET(self):
        if Peer.does == "answers":
            self.say(scalar("1"))
        elif Peer.does == "lies":
            self.say(scalar("NaN"))
        elif Peer.does == "answers with a page":
            self.say(b"<html>please log in</html>", "text/html")
        elif Peer.does == "redirects":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif Peer.does == "hangs":
            time.sleep(60)
        elif Peer.does == "floods":
            try:
                self.send_response(200)
                self.end_headers()
                for _ in range(200):
                    self.wfile.write(b"1" * 65536)
            except OSError:
                pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def start_prometheus(shop):
    port = free_port()
    crypt = ctypes.CDLL("libcrypt.so.1").crypt  # as Prometheus wants it: bcrypt
    crypt.restype = ctypes.c_char_p
    hashed = crypt(PASSWORD.encode(), b"$2b$05$abcdefghijklmnopqrstuu").decode()
    (folder / "web.yml").write_text(json.dumps({"basic_auth_users": {"windlass": hashed}}))
    (folder / "prometheus.yml").write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [
        {"job_name": "shop", "static_configs": [{"targets": [f"127.0.0.1:{shop}"]}]}]}))
    process = spawn("prometheus", PROMETHEUS, "--config.file", folder / "prometheus.yml", "--web.config.file", folder / "web.yml", "--storage.tsdb.path",
                    folder / "tsdb", "--web.listen-address", f"127.0.0.1:{port}")
    return process, port


def write_pack(prometheus, peer):
    shutil.copytree(ROOT / "policies/disruption/signals", folder / "packs/signals")
    query = 'sum(rate(shop_errors_total{cluster="live"}[5s])) / sum(rate(shop_requests_total[5s]))'
    (folder / "packs/signals/signals.lua").write_text(f"""
return {{ soak_seconds = {SOAK}, look_again = 2, signals = {{
  {{ name = "errors", every = {EVERY}, prometheus = "http://127.0.0.1:{prometheus}", secret = "prometheus-login", at_most = 0.05, query = [[{query}]] }},
  {{ name = "peer", every = {EVERY}, prometheus = "http://127.0.0.1:{peer}", at_least = 1, query = "up" }},
}} }}
""")


def main():
    server = spawn("apiserver", BUILD / "windlass", "apiserver", "--clusters", "1", "--no-workloads", "--dir", folder / "server")
    kubeconfig = until(lambda: next(iter((folder / "server").glob("*kubeconfig*")), None), "the API server is there")
    os.environ["WINDLASS_LIVE_KUBECONFIG"] = str(kubeconfig)
    os.environ["KUBEBUILDER_ASSETS"] = str(pathlib.Path(KUBECTL).parent)
    import rollout
    until(lambda: subprocess.run([KUBECTL, "--kubeconfig", kubeconfig, "get", "--raw", "/readyz"], capture_output=True).returncode == 0, "it answers")

    def windlass(*arguments):
        done = subprocess.run([BUILD / "windlass", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def explain():
        """Of a node that has not moved yet."""
        waiting = next((m.name for m in machines if m.boots == 0), names[-1])
        return windlass("explain", waiting, "--kubeconfig", kubeconfig, "--apis", "bootc")[1]

    rollout.kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds"))
    shop, peer = serve(Shop), serve(Peer)
    prometheus, port = start_prometheus(shop.server_address[1])
    write_pack(port, peer.server_address[1])
    login = {k: base64.b64encode(v.encode()).decode() for k, v in
             {"origin": f"http://127.0.0.1:{port}", "username": "windlass", "password": PASSWORD}.items()}
    rollout.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "prometheus-login", "namespace": "default"}, "data": login})
    names = ["live-1", "live-2", "live-3"]
    for name in names:
        rollout.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"live-signals": "yes"}}})
        rollout.report_node(name, True, f"boot-{name}")
    run = spawn("run", BUILD / "windlass", "run", "--kubeconfig", kubeconfig, "--apis", "bootc", "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
                "--operator-namespace", "default", "--policies", folder / "packs", "--record", folder / "record",
                "--allow-signal-host", f"http://127.0.0.1:{port}", "--allow-signal-host", f"http://127.0.0.1:{peer.server_address[1]}")
    pool = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "live", "labels": {"windlass.dev/signals": ""}},
            "spec": {"nodeSelector": {"matchLabels": {"live-signals": "yes"}}, "image": {"ref": rollout.IMAGES[0]}, "rollout": {"maxUnavailable": 1}}}
    rollout.apply(pool)
    machines = [rollout.Machine(name, folder / name) for name in names]
    try:
        def tick():
            for machine in machines:
                machine.tick()

        def boots():
            return sum(machine.boots for machine in machines)

        def ticking(true, what, limit):
            def once():
                tick()
                return true()
            return until(once, what, limit)

        def at():
            return json.loads(rollout.kubectl("get", "bootcnodepool", "live", "-o", "json"))

        ticking(lambda: rollout.condition(at(), "UpToDate")[1] == "AllUpdated", "the pool is known and in order", 60)
        pool["spec"]["image"]["ref"] = rollout.IMAGES[1]
        rollout.apply(pool)
        ticking(lambda: boots() >= 1, "the first node moves, with a value from Prometheus behind its login", 90)
        Shop.failing = True
        ticking(lambda: rollout.condition(at(), "Degraded")[1] == "RolloutHalted", f"the counter halts the rollout: {explain()}", 60)
        message = rollout.condition(at(), "Degraded")[2]
        told = explain()
        check("errors is 0." in message and "at most 0.05 is allowed" in message, f"value and bound are said: {message}")
        check("signal-bad" in told and "at most 0.05 is allowed" in told, f"explain says it: {told}")
        print(f"## live signals: {message}")
        halted = boots()
        end = time.monotonic() + 15
        while time.monotonic() < end:
            tick()
            time.sleep(0.2)
        check(boots() == halted, f"none moves meanwhile: {boots()} of {halted}")
        # Fine again, but for the other server.
        for does, says in (("lies", "the answer is NaN"), ("answers with a page", "no JSON"), ("floods", "larger than 65536 bytes"), ("redirects", "follows no redirect")):
            Peer.does, Shop.failing = does, False
            ticking(lambda: says in explain(), f"{does}: `{says}` is said", 60)
            check("signal-unknown" in explain(), explain())
            check(boots() == halted, f"unknown is never a pass ({does})")
            print(f"## live signals: a server that {does}: {says}")
        Peer.does = "answers"
        ticking(lambda: "signal-unknown" not in explain(), "the server answers again", 90)
        Peer.does = "hangs"
        ticking(lambda: "signal-unknown" in explain() or boots() == 3, "one that hangs leaves its last value until that is stale", 90)
        Peer.does = "answers"
        ticking(lambda: boots() == 3 and rollout.condition(at(), "UpToDate")[1] == "AllUpdated", "it goes on by itself", 240)
        check(rollout.condition(at(), "Degraded")[0] == "False", "nothing is halted any more")
        print("## live signals: it went on by itself")
    finally:
        for machine in machines:
            machine.kill()
    run.terminate()
    check(run.wait(timeout=10) == 0, "windlass ends in order")
    for process in (prometheus, server):
        process.kill()
        process.wait()
    shop.server_close(), peer.server_close()
    record = (folder / "record").read_text()
    check(PASSWORD not in record and PASSWORD not in (folder / "run.log").read_text(), "no login is in record or log")
    code, said = windlass("policy", "replay", folder / "packs", "--record", folder / "record")
    check(code == 0 and ", 0 are answered otherwise" in said and "errors is 0." in record, f"the record is replayed without any server: {code} {said}")
    print(f"## live signals: {said.strip().splitlines()[-1]}")


if __name__ == "__main__":
    if not PROMETHEUS or not KUBECTL:
        print("live: SKIPPED: no prometheus (./dev setup live) or no kubectl")
        sys.exit(0)
    failed = None
    try:
        main()
    except Exception as problem:  # noqa: BLE001  what a person needs is the logs
        failed = problem
        for log in sorted(folder.glob("*.log")):
            print(f"--- {log.name}\n" + "".join(log.read_text(errors="replace").splitlines(keepends=True)[-15:]))
    finally:
        for child in children:
            child.kill()
            child.wait()
        shutil.rmtree(folder, ignore_errors=True)
    if failed:
        print("live signals: FAILED:", failed)
    sys.exit(1 if failed else 0)
