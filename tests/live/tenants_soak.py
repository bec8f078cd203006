#!/usr/bin/env python3
"""Makes and deletes Tenants by the thousand under a service whose allocator overwrites what is freed, and ends it while operations run.

    WINDLASS_SOAK=10000 tests/live/tenants_soak.py BUILD_FOLDER

Embedded API servers, one chart, four members. Without WINDLASS_SOAK it is skipped: it takes some minutes. A use after free shows as
a crash, and what is not given back as memory that grows.
"""
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.request

COUNT = int(os.environ.get("WINDLASS_SOAK", 0))
AT_ONCE, MEMBERS = 100, 4
if not COUNT:
    print("tenants_soak: SKIPPED: WINDLASS_SOAK=N makes and deletes N Tenants")
    sys.exit(77)
windlass = pathlib.Path(sys.argv[1]).resolve() / "windlass"
TENANTS = "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants"


def chart(folder):
    files = {"Chart.yaml": "apiVersion: v2\nname: demo\nversion: 1.0.0\n", "values.yaml": "keys: 20\n",
             "templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: demo\ndata:\n"
                                  "{{- range until (int .Values.keys) }}\n  k{{ . }}: {{ repeat 200 \"x\" | quote }}\n{{- end }}\n"}
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo("demo/" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    packed = gzip.compress(raw.getvalue(), mtime=0)
    (folder / "demo-1.0.0.tgz").write_bytes(packed)
    digest = hashlib.sha256(packed).hexdigest()
    (folder / "index.yaml").write_text(f"apiVersion: v1\nentries:\n  demo:\n  - {{name: demo, version: 1.0.0, digest: {digest}, urls: [demo-1.0.0.tgz]}}\n")


def call(server, method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(server + path, data=data, method=method, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as e:
        return e.code, {}


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "repo").mkdir()
    chart(folder / "repo")

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *a):
            super().__init__(*a, directory=str(folder / "repo"))

        def log_message(self, *_):
            pass

    repository = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=repository.serve_forever, daemon=True).start()
    port = 20000 + os.getpid() % 20000
    servers = subprocess.Popen([windlass, "apiserver", "--clusters", str(MEMBERS), "--dir", folder / "api", "--port", str(port), "--no-workloads"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = open(folder / "run.log", "w")
    service = None
    try:
        for _ in range(100):
            if (folder / "api/kubeconfig").exists():
                break
            time.sleep(0.1)
        members = [f"http://127.0.0.1:{port + i}" for i in range(MEMBERS)]
        command = [windlass, "run", "--kubeconfig", folder / "api/kubeconfig", "--apis", "tenants", "--fleet", "contexts",
                   "--chart-repo", f"http://127.0.0.1:{repository.server_port}", "--chart-name", "demo", "--chart-version", "1.0.0",
                   "--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
        service = subprocess.Popen([str(c) for c in command], stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "MALLOC_CONF": "junk:true"})
        for server in members:
            for _ in range(200):
                if call(server, "GET", TENANTS)[0] == 200:
                    break
                time.sleep(0.1)
        made = deleted = 0
        alive, early = [], 0
        began = time.monotonic()
        while deleted < COUNT:
            assert service.poll() is None, f"the service ended with {service.returncode} after {made} Tenants"
            while made < COUNT and len(alive) < AT_ONCE * MEMBERS:
                server = members[made % MEMBERS]
                status, _ = call(server, "POST", TENANTS, {"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant",
                                                          "metadata": {"name": f"t{made}"}, "spec": {}})
                assert status == 201, status
                alive.append((server, f"t{made}"))
                made += 1
            # Every third goes before it is ready, while its chart is rendered or its release installed.
            ready = {}
            for server in members:
                for tenant in call(server, "GET", TENANTS)[1].get("items", []):
                    ready[server, tenant["metadata"]["name"]] = (tenant.get("status") or {}).get("phase") == "Ready"
            keep, before = [], deleted
            for one in alive:
                if ready.get(one) or int(one[1][1:]) % 3 == 0:
                    early += not ready.get(one)
                    assert call(one[0], "DELETE", f"{TENANTS}/{one[1]}")[0] == 200
                    deleted += 1
                else:
                    keep.append(one)
            alive = keep
            if deleted // 1000 != before // 1000:
                print(f"tenants_soak: {deleted} of {COUNT} deleted, {early} before they were ready, {resident(service.pid)} MiB,"
                      f" {time.monotonic() - began:.0f} s", flush=True)
            if deleted == before:
                time.sleep(0.2)
        left = -1
        for _ in range(600):
            assert service.poll() is None, f"the service ended with {service.returncode}"
            left = sum(len(call(server, "GET", TENANTS)[1]["items"]) for server in members)
            if left == 0:
                break
            time.sleep(0.5)
        assert left == 0, f"{left} Tenants are left"
        rest = resident(service.pid)
        # Its end comes while operations run.
        for i in range(AT_ONCE):
            call(members[0], "POST", TENANTS, {"apiVersion": "mesh.openkcm.io/v1alpha1", "kind": "Tenant", "metadata": {"name": f"last{i}"}, "spec": {}})
        told = time.monotonic()
        service.send_signal(signal.SIGTERM)
        code = service.wait(timeout=20)
        took = time.monotonic() - told
        assert code == 0, f"the service ended with {code}"
        print(f"tenants_soak: {COUNT} made and deleted, {early} before they were ready; {rest} MiB afterwards; ended {took:.1f} s after SIGTERM")
    except AssertionError:
        log.flush()
        print("\n".join((folder / "run.log").read_text().splitlines()[-20:]))
        raise
    finally:
        for process in (service, servers):
            if process and process.poll() is None:
                process.kill()
                process.wait()
