#!/usr/bin/env python3
"""Trustee's instances on a real API server, by what deploy/ ships, applied unchanged: its controller's pod, under its own account and
with nothing set that deploy/ does not set. The samples become servers, two releases side by side, one changed and deleted beside the
other; then every release, Permissive and Restricted, gets its Deployment. No pods run there, so the status of Deployments is played here,
and so is the controller that adds up ClusterRoles.

    tests/live/trustee.py build/release      (tests/live/run starts the server)
"""
import base64, json, os, pathlib, signal, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from deploy import Install, Pod, remove_kinds

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WINDLASS = str(pathlib.Path(sys.argv[1]).resolve() / "windlass")
KUBECONFIG = os.environ["WINDLASS_LIVE_KUBECONFIG"]
KUBECTL = [os.path.join(os.environ["KUBEBUILDER_ASSETS"], "kubectl"), "--kubeconfig", KUBECONFIG]
NS = "trustee"
GROUP = "confidentialcontainers.org"
KINDS = ["configmaps", "secrets", "persistentvolumeclaims", "services", "deployments", f"kbsconfigs.{GROUP}"]
RELEASES = json.loads((ROOT / "policies/trustee/data/versions.json").read_text())["supported_versions"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="windlass-trustee-"))
log = open(folder / "windlass.log", "w+")
checks = 0


def kubectl(*arguments, given=None, check=True):
    done = subprocess.run([*KUBECTL, *arguments], input=given, capture_output=True, text=True, timeout=60)
    if check and done.returncode != 0:
        raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def get(kind, name):
    text = kubectl("-n", NS, "get", kind, name, "-o", "json", "--ignore-not-found")
    return json.loads(text) if text.strip() else None


def all_of(kind):
    return json.loads(kubectl("-n", NS, "get", kind, "-o", "json"))["items"]


def expect(what, holds):
    global checks
    checks += 1
    assert holds, what


def until(what, holds, seconds=60):
    global checks
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            checks += 1
            return
        time.sleep(0.3)
    log.seek(0)
    print(log.read()[-6000:], kubectl("-n", NS, "get", "trusteeconfigs,kbsconfigs,deployments", "-o", "yaml", check=False)[-9000:])
    raise SystemExit(f"not within {seconds} s: {what}")


def reason(kind, name, of):
    for c in (get(kind, name) or {}).get("status", {}).get("conditions", []):
        if c["type"] == of:
            return f"{c['status']}/{c['reason']}"
    return None


def not_ready_early(name):
    """What an instance says of itself before its Deployment has rolled out."""
    said = reason("trusteeconfig", name, "Ready")
    expect(f"{name} is ready early: {said}", not (said or "").startswith("True"))
    return said


def roll_out(name):
    d = get("deployment", name)
    n = d["spec"]["replicas"]
    kubectl("-n", NS, "patch", "deployment", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
        "observedGeneration": d["metadata"]["generation"], "replicas": n, "readyReplicas": n, "updatedReplicas": n, "availableReplicas": n}}))


def image(deployment, container=0, which="containers"):
    return get("deployment", deployment)["spec"]["template"]["spec"][which][container]["image"]


def versions(instance=None):
    """Of all objects here, or of what an instance and its KbsConfig own."""
    owners = None
    if instance:
        owners = {get("trusteeconfig", instance)["metadata"]["uid"], get("kbsconfig", f"{instance}-kbs-config")["metadata"]["uid"]}
    out = {}
    for kind in KINDS:
        for o in all_of(kind):
            refs = {r["uid"] for r in o["metadata"].get("ownerReferences", [])}
            if (refs & owners) if owners else refs:
                out[f"{kind}/{o['metadata']['name']}"] = o["metadata"]["resourceVersion"]
    return out


def with_components(its_folder, _namespace):
    """As docs/trustee.md says."""
    root = its_folder / "overlay"
    root.mkdir()
    (root / "kustomization.yaml").write_text(json.dumps({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [os.path.relpath(ROOT / "deploy", root)],
        "components": [os.path.relpath(ROOT / "deploy/components" / c, root) for c in ("compose", "trustee")]}))
    kubectl("apply", "--server-side", "-k", str(root))
    kubectl("wait", "--for=condition=Established", f"crd/trusteeconfigs.{GROUP}", f"crd/kbsconfigs.{GROUP}", "--timeout=60s")
    roles = json.loads(kubectl("get", "clusterroles", "-o", "json"))["items"]
    for role in roles:
        if rule := role.get("aggregationRule"):
            wanted = [s["matchLabels"] for s in rule["clusterRoleSelectors"]]
            rules = [r for one in roles for r in one.get("rules") or []
                     if any(w.items() <= one["metadata"].get("labels", {}).items() for w in wanted)]
            if wanted == [{"windlass.dev/compose": "true"}]:
                kubectl("patch", "clusterrole", role["metadata"]["name"], "--type=merge", "-p", json.dumps({"rules": rules}))


def run():
    return pod.start(log)


remove_kinds()
installed = Install(with_components, "bootc-operator", folder / "install")
kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}}))
running = None
try:
    installed.apply()
    own_image = installed.deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    pod = Pod(installed.deployment, "controller-0", "nowhere", folder / "install")
    for _ in range(50):  # a kind is served a moment after it is established
        if subprocess.run([*KUBECTL, "get", "trusteeconfigs,kbsconfigs", "-A"], capture_output=True).returncode == 0:
            break
        time.sleep(0.2)
    for sample in ("permissive", "two-releases"):
        kubectl("apply", "--server-side", "-f", str(ROOT / f"deploy/examples/trustee/{sample}.yaml"))
    plan = subprocess.run([WINDLASS, "plan", "--apis", "compose", "--kubeconfig", KUBECONFIG, "-o", "json"], capture_output=True, text=True,
                          timeout=60)
    expect("plan says what would be made: " + plan.stdout + plan.stderr, "create ConfigMap old-kbs-config" in plan.stdout)
    expect("who looks writes nothing", not versions())
    running = run()
    names = {"trusteeconfig-sample": "trustee-deployment", "old": "trustee-deployment-old", "new": "trustee-deployment-new"}
    for name, deployment in names.items():
        until(f"{name} is composed", lambda: reason("trusteeconfig", name, "Composed") == "True/AsAsked" and get("deployment", deployment))
        # Its KbsConfig says so first, and the parent a pass later.
        until(f"{name} says that it rolls out", lambda: not_ready_early(name) == "False/RollingOut")
        roll_out(deployment)
    for name in names:
        until(f"{name} is ready", lambda: reason("trusteeconfig", name, "Ready") == "True/Ready")
    expect("each has the image of its release", "v0.18.0" in image("trustee-deployment-old") and "v0.21.0" in image("trustee-deployment-new"))
    expect("the init container is Windlass", image("trustee-deployment-new", 0, "initContainers") == own_image)
    # Keys are read by openssl.
    auth = get("secret", "new-auth-secret")["data"]
    (folder / "key").write_bytes(base64.b64decode(auth["privateKey"]))
    public = subprocess.run(["openssl", "pkey", "-in", str(folder / "key"), "-pubout"], capture_output=True, check=True).stdout
    expect("the key pair belongs together", public == base64.b64decode(auth["publicKey"]))
    # A settled namespace, and a restart, write nothing.
    settled = versions()
    time.sleep(10)
    running.send_signal(signal.SIGKILL)
    running.wait()
    running = run()
    time.sleep(10)
    expect("0 writes when settled and after a restart", versions() == settled)
    # One is changed, then deleted; the other is not touched.
    new = versions("new")
    kubectl("-n", NS, "patch", "trusteeconfig", "old", "--type=merge", "-p", '{"spec": {"version": "v0.19.0"}}')
    until("the new release is in force", lambda: "v0.19.0" in image("trustee-deployment-old"))
    until("the status says so", lambda: get("trusteeconfig", "old")["status"].get("effectiveVersion") == "v0.19.0")
    expect("patching one writes no object of the other", versions("new") == new)
    config = get("configmap", "old-kbs-config")["data"]["kbs-config.toml"]
    kubectl("-n", NS, "patch", "configmap", "new-kbs-config", "--type=merge", "-p", json.dumps({"data": {"kbs-config.toml": "# mine\n" + config}}))
    time.sleep(3)
    expect("what a user wrote keeps its bytes", get("configmap", "new-kbs-config")["data"]["kbs-config.toml"] == "# mine\n" + config)
    kubectl("-n", NS, "delete", "deployment", "trustee-deployment-new", "--wait=false")
    until("a deleted Deployment is made anew", lambda: get("deployment", "trustee-deployment-new") is not None)
    roll_out("trustee-deployment-new")
    until("it is ready again", lambda: reason("trusteeconfig", "new", "Ready") == "True/Ready")
    new = versions("new")
    kubectl("-n", NS, "delete", "trusteeconfig", "old", "--wait=false")
    time.sleep(5)  # nobody collects what it owned on this server
    expect("deleting one leaves the other", versions("new") == new)
    # Every release, in both profiles.
    for name in ("https", "token"):
        kubectl("-n", NS, "apply", "-f", "-", given=json.dumps({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": {"name": name},
            "stringData": {"tls.key": f"the key of {name}", "tls.crt": f"the certificate of {name}"}}))
    wanted = {}
    for release in RELEASES:
        for profile in ("permissive", "restricted"):
            name = f"{profile[0]}-{release.replace('.', '-')}"
            spec = {"version": release, "instanceName": name, "profileType": profile.capitalize()}
            if profile == "restricted":
                spec |= {"httpsSpec": {"tlsSecretName": "https"}, "attestationTokenVerificationSpec": {"tlsSecretName": "token"}}
            kubectl("-n", NS, "apply", "-f", "-", given=json.dumps({"apiVersion": f"{GROUP}/v1alpha1", "kind": "TrusteeConfig",
                                                                    "metadata": {"name": name}, "spec": spec}))
            wanted[f"trustee-deployment-{name}"] = name
    until("every release has its Deployment in both profiles", lambda: wanted.keys() <= {d["metadata"]["name"] for d in all_of("deployments")}, 240)
    for deployment, name in wanted.items():
        template = get("deployment", deployment)["spec"]["template"]["spec"]
        for init in template.get("initContainers", []):
            expect(f"the init container of {name} runs {init['image']}", init["image"] == own_image)
        until(f"{name} is composed", lambda: reason("trusteeconfig", name, "Composed") == "True/AsAsked")
        expect(f"{name}: {reason('trusteeconfig', name, 'ImagesResolved')}", reason("trusteeconfig", name, "ImagesResolved") == "True/Resolved")
    refused = [f"{a['verb']} {a['requestURI']}" for a in installed.answers() if a.get("responseStatus", {}).get("code") in (401, 403)]
    expect(f"forbidden: {sorted(set(refused))}", not refused)
    # No byte of a secret was said.
    log.seek(0)
    said = log.read() + plan.stdout + kubectl("get", "events", "-A", "-o", "json")
    for secret in all_of("secrets"):
        for key, value in secret.get("data", {}).items():
            plain = base64.b64decode(value).decode(errors="replace")
            for needle in [line for line in [value, *plain.splitlines()] if len(line) > 12 and not line.startswith("-----")]:
                expect(f"{secret['metadata']['name']}.{key} was said", needle not in said)
    print(f"## live trustee: {checks} answers of a kube-apiserver as expected, three instances of three releases, {len(wanted)} Deployments of {len(RELEASES)}")
finally:
    if running:
        running.kill()
        running.wait()
    installed.remove()
    subprocess.run([*KUBECTL, "delete", "namespace", NS, "--wait=false"], capture_output=True)
    subprocess.run([*KUBECTL, "delete", "-f", str(ROOT / "deploy/crds/trustee"), "--wait=false"], capture_output=True)
