#!/usr/bin/env python3
"""An etcd that is restored from a backup under a running service, as after a disaster: etcd and kube-apiserver are stopped, the data folder of before is put
back, and both start again on the same ports. The service has to notice that the versions went back (docs/adr/0006), within three minutes at rest.
Starts an etcd and a kube-apiserver of its own.

    KUBEBUILDER_ASSETS=D tests/live/restored.py BUILD_FOLDER

Ends with one JSON line: {"live", "noticed_s", "seen_s"}.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import own_server
from waits import check, until

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
AT_REST = 180  # seconds: docs/adr/0006
IMAGES = [f"registry.live.local/os/node@sha256:{c * 64}" for c in "abc"]


class Server(own_server.Server):
    def is_observed(self):
        pool = json.loads(self.kubectl("get", "bootcnodepool", "live", "-o", "json").stdout)
        return pool.get("status", {}).get("observedGeneration") == pool["metadata"]["generation"]


def pool(image):
    return {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": "live"},
            "spec": {"nodeSelector": {"matchLabels": {"live-restored": "yes"}}, "image": {"ref": image}}}


def main():
    if not own_server.is_there():
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server, service = Server(folder), None
        log = folder / "run.log"
        try:
            server.start()
            server.kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds"))
            server.kubectl("wait", "--for=condition=Established", "crd/bootcnodepools.node.bootc.dev", "--timeout=20s")
            server.apply(pool(IMAGES[0]))
            with open(log, "w") as out:
                service = subprocess.Popen([BUILD / "windlass", "run", "--kubeconfig", server.kubeconfig, "--metrics-bind-address", "0",
                                            "--health-probe-bind-address", "0"], stdout=out, stderr=out)
            until(server.is_observed, "the pool is seen", 60)
            server.stop()
            shutil.copytree(folder / "etcd", folder / "backup")
            server.start()
            for i in range(50):  # what the backup lacks
                server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"later-{i}", "namespace": "default"}})
            server.apply(pool(IMAGES[1]))
            until(server.is_observed, "the service came back after a restart, and sees what changes", 60)
            time.sleep(40)  # a bookmark or a question told it of these versions
            check("and had been at" not in log.read_text(), "a restart is no restore")
            server.stop()
            shutil.rmtree(folder / "etcd")
            shutil.move(folder / "backup", folder / "etcd")
            server.start()
            server.apply(pool(IMAGES[2]))
            began = time.monotonic()
            until(lambda: "and had been at" in log.read_text(), "the restore is noticed", AT_REST)
            noticed = time.monotonic() - began
            until(server.is_observed, "the pool is seen as it is now", AT_REST)
            print(json.dumps({"live": "restored", "noticed_s": round(noticed, 1), "seen_s": round(time.monotonic() - began, 1)}))
        except Exception:
            for file in ("run.log", "apiserver.log", "etcd.log"):
                if (folder / file).exists():
                    print(f"--- {file}\n" + "".join((folder / file).read_text().splitlines(keepends=True)[-15:]))
            raise
        finally:
            if service:
                service.kill()
                service.wait()
            server.stop()


main()
