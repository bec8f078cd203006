#!/usr/bin/env python3
"""The kinds that we ship, on a real kube-apiserver: the objects of tests/deploy/admission.json are refused at admission or taken as it
says, and `kubectl explain` knows every field.

    tests/live/admission.py build/release      (tests/live/run starts the server)
"""
import json, os, pathlib, subprocess, time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KUBECTL = [os.path.join(os.environ["KUBEBUILDER_ASSETS"], "kubectl"), "--kubeconfig", os.environ.get("WINDLASS_LIVE_OWN_KUBECONFIG") or os.environ["WINDLASS_LIVE_KUBECONFIG"]]
GROUPS = {"BootcNodePool": "node.bootc.dev", "BootcNode": "node.bootc.dev", "TrusteeConfig": "confidentialcontainers.org", "KryptonDeployment": "mesh.openkcm.io",
          "FleetPool": "fleet.windlass.dev", "FleetChart": "fleet.windlass.dev", "FleetGrant": "fleet.windlass.dev"}
CRDS = sorted((ROOT / "deploy/crds").rglob("*.yaml"))


def kubectl(*arguments, given=None):
    return subprocess.run([*KUBECTL, *arguments], input=given, capture_output=True, text=True)


def made(row):
    body = {"apiVersion": f"{GROUPS[row['kind']]}/v1alpha1", "kind": row["kind"], "metadata": {"name": row.get("name", "tried")}, "spec": row["spec"]}
    return kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(body))


for crd in CRDS:
    done = kubectl("apply", "--server-side", "--force-conflicts", "-f", str(crd))
    assert done.returncode == 0, (crd, done.stderr)
done = kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
assert done.returncode == 0, done.stderr
rows = json.loads((ROOT / "tests/deploy/admission.json").read_text())
for kind in GROUPS:  # a kind is served a moment after it is established
    first = next(r for r in rows if r["kind"] == kind and not r["refused"])
    for _ in range(100):
        if made(first).returncode == 0:
            break
        time.sleep(0.2)
for row in rows:
    done = made(row)
    if row["refused"]:
        assert done.returncode != 0 and row["refused"] in done.stderr, (row, done.returncode, done.stderr)
    else:
        assert done.returncode == 0, (row, done.stderr)
# What follows the fields of an explained kind is "<no description>" where one has none.
explained = 0
for crd in CRDS:
    plural, group = next(line.split("name: ")[1].strip() for line in crd.read_text().splitlines() if line.startswith("  name: ")).split(".", 1)
    for _ in range(50):
        done = kubectl("explain", f"{plural}.{group}", "--recursive")
        if done.returncode == 0:
            break
        time.sleep(0.2)
    assert done.returncode == 0, (crd, done.stderr)
    for path in (plural, f"{plural}.spec", f"{plural}.status"):
        one = kubectl("explain", path, "--api-version", f"{group}/v1alpha1")
        if "does not exist" in one.stderr:
            continue
        assert one.returncode == 0 and "<no description>" not in one.stdout, (path, one.stdout, one.stderr)
        explained += 1
print(f"## live admission: {len(rows)} objects judged by a kube-apiserver as expected, {explained} explained without a gap")
