#!/usr/bin/env python3
"""Trustee's kinds on a real kube-apiserver: the samples are taken, what cannot be is refused before anything is stored.

    tests/live/trustee_admission.py build/release      (tests/live/run starts the server)
"""
import json, os, pathlib, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KUBECTL = [os.path.join(os.environ["KUBEBUILDER_ASSETS"], "kubectl"), "--kubeconfig", os.environ["WINDLASS_LIVE_KUBECONFIG"]]
checks = 0


def kubectl(*arguments, given=None, fails=None):
    global checks
    done = subprocess.run([*KUBECTL, *arguments], input=given, capture_output=True, text=True)
    if fails is None:
        assert done.returncode == 0, (arguments, done.stderr)
    else:
        assert done.returncode != 0 and fails in done.stderr, (fails, done.returncode, done.stderr)
    checks += 1
    return done.stdout


def config(name, spec):
    return json.dumps({"apiVersion": "confidentialcontainers.org/v1alpha1", "kind": "TrusteeConfig", "metadata": {"name": name, "namespace": "trustee"}, "spec": spec})


kubectl("apply", "--server-side", "-f", str(ROOT / "deploy/crds/trustee"))
kubectl("wait", "--for=condition=Established", "crd/trusteeconfigs.confidentialcontainers.org", "crd/kbsconfigs.confidentialcontainers.org", "--timeout=60s")
kubectl("create", "namespace", "trustee")
try:
    for _ in range(50):  # a kind is served a moment after it is established
        if subprocess.run([*KUBECTL, "get", "trusteeconfigs,kbsconfigs", "-A"], capture_output=True).returncode == 0:
            break
        time.sleep(0.2)
    for sample in sorted((ROOT / "deploy/examples/trustee").glob("*.yaml")):
        kubectl("apply", "--server-side", "-f", str(sample))
    stored = json.loads(kubectl("-n", "trustee", "get", "trusteeconfig", "trusteeconfig-sample", "-o", "json"))
    assert "version" not in stored["spec"], stored["spec"]
    for odd in ("0.10.0", "v0.10", "Latest", "v1.2.3-rc1", "v1.2.3/.."):
        kubectl("apply", "-f", "-", given=config("odd", {"version": odd}), fails="spec.version")
    for spec, said in (({"tlsConfig": {"minVersion": "1.3", "maxVersion": "1.2"}}, "minVersion must not be above maxVersion"),
                       ({"tlsConfig": {"minVersion": "2"}}, "spec.tlsConfig.minVersion"), ({"profileType": "Loose"}, "spec.profileType"),
                       ({"instanceName": "Blue"}, "spec.instanceName"), ({"instanceName": "a" * 31}, "spec.instanceName"),
                       ({"kbsNodePort": 80}, "spec.kbsNodePort"), ({"kbsServicePort": 0}, "spec.kbsServicePort"), ({"ibmSE": {}}, "pvName"),
                       ({"configUpdatePolicy": "Sometimes"}, "spec.configUpdatePolicy"), ({"tlsConfig": {"profile": "newest"}}, "spec.tlsConfig.profile")):
        kubectl("apply", "-f", "-", given=config("odd", spec), fails=said)
    kubectl("-n", "trustee", "get", "trusteeconfig", "odd", fails="not found")
    kubectl("-n", "trustee", "patch", "trusteeconfig", "old", "--type=merge", "-p", '{"spec": {"instanceName": "other"}}', fails="instanceName cannot be changed")
    kubectl("-n", "trustee", "patch", "trusteeconfig", "old", "--type=merge", "-p", '{"spec": {"instanceName": null}}', fails="instanceName cannot be changed")
    kubectl("-n", "trustee", "patch", "trusteeconfig", "trusteeconfig-sample", "--type=merge", "-p", '{"spec": {"instanceName": "late", "tlsConfig": {}}}')
    stored = json.loads(kubectl("-n", "trustee", "get", "trusteeconfig", "trusteeconfig-sample", "-o", "json"))
    assert stored["spec"]["tlsConfig"] == {"profile": "intermediate"}, stored["spec"]
finally:
    # The namespace stays: nobody here empties one that is deleted, and live_trustee works in it.
    subprocess.run([*KUBECTL, "delete", "-f", str(ROOT / "deploy/crds/trustee"), "--wait=false"], capture_output=True)
print(f"## live trustee: {checks} answers of a kube-apiserver as expected")
