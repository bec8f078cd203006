#!/usr/bin/env python3
"""A kubeconfig whose user logs in by a program (`exec`), with a real API server: run, status, plan and helm list; renewal after the end and after
a 401; a program that fails, one that is not there, one that hangs; one of three contexts that cannot be used; and a Secret, refused and allowed.

    tests/live/logins.py BUILD_FOLDER
"""
import base64
import hashlib
import json
import pathlib
import subprocess
import time

from one_server import CRDS, KUBECONFIG, KUBECTL, WINDLASS, check, end, kubectl, wait, work

API = "client.authentication.k8s.io/v1"


def windlass(*arguments, seconds=120, **more):
    return subprocess.run([WINDLASS, *arguments], capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL, **more)


def program(name, body):
    path = work / name
    path.write_text("#!/bin/sh\n" + body + "\n")
    path.chmod(0o755)
    return path


def token(account="login"):
    return kubectl("-n", "bootc-operator", "create", "token", account, "--duration=1h").strip()


def write_token(text):
    part = work / "token.part"
    part.write_text(text)
    part.rename(work / "token")


def kubeconfig(name, command, **exec_more):
    """One context `live` with an exec user, JSON, which is YAML."""
    server = json.loads(subprocess.run([*KUBECTL, "config", "view", "--raw", "--flatten", "-o", "json"], capture_output=True, text=True, check=True).stdout)["clusters"][0]["cluster"]
    user = {"apiVersion": API, "command": str(command), "interactiveMode": "Never", **exec_more}
    path = work / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "live", "clusters": [{"name": "c", "cluster": server}],
                                "users": [{"name": "u", "user": {"exec": user}}], "contexts": [{"name": "live", "context": {"cluster": "c", "user": "u"}}]}))
    return path


def runs():
    return len((work / "runs").read_text().splitlines())


PRINT = ('echo x >> ' + str(work / "runs") + '\nuntil=$(date -u -d "+$(cat ' + str(work / "life") + ') seconds" +%Y-%m-%dT%H:%M:%SZ)\n'
         'printf \'{"apiVersion":"' + API + '","kind":"ExecCredential","status":{"token":"%s","expirationTimestamp":"%s"}}\' "$(cat ' + str(work / "token") + ')" "$until"')

kubectl("apply", "--server-side", "-f", str(CRDS))
kubectl("create", "namespace", "bootc-operator", check=False)
kubectl("-n", "bootc-operator", "create", "serviceaccount", "login")
kubectl("create", "clusterrolebinding", "login", "--clusterrole=cluster-admin", "--serviceaccount=bootc-operator:login")
time.sleep(2)
write_token(token())
(work / "life").write_text("3600")
(work / "runs").write_text("")
login = program("login", "echo 'the login program speaks' >&2\n" + PRINT)
good = kubeconfig("good", "./login")  # from the kubeconfig's folder

for name, arguments in {"status": ["status", "--fleet", "self"], "plan": ["plan", "--fleet", "self"], "helm list": ["helm", "list", "-A"]}.items():
    before = runs()
    said = windlass(*arguments, "--kubeconfig", str(good))
    check(f"{name}: works", said.returncode == 0, said)
    check(f"{name}: the program ran once", runs() == before + 1, runs() - before)
    check(f"{name}: its words are shown", "the login program speaks" in said.stderr, said)

# the service, through the end of credentials and a 401
(work / "life").write_text("5")
log = open(work / "run.log", "w+")
service = subprocess.Popen([WINDLASS, "run", "--kubeconfig", str(good), "--fleet", "self", "--apis", "bootc", "--metrics-bind-address", "0",
                            "--health-probe-bind-address", "0"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def reason_of(pool):
    found = json.loads(kubectl("get", "bootcnodepool", pool, "-o", "json")).get("status", {}).get("conditions", [])
    return {c["type"]: c["reason"] for c in found}.get("Degraded")


def is_seen(name):
    text = {"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": {"of": name}}, "image": {"ref": "quay.io/org/os:latest"}, "pullSecretRef": {"name": "pull", "namespace": "elsewhere"}}}
    kubectl("apply", "-f", "-", input=json.dumps(text))
    return wait(f"run: the pool {name} is seen", lambda: reason_of(name) == "InvalidSpec", 40)


is_seen("first")
before = runs()
time.sleep(7)
is_seen("second")
check("run: the program ran again after the end", runs() > before, runs())
(work / "life").write_text("3600")
time.sleep(6)
is_seen("third")
before = runs()  # a service that asks meanwhile renews at once
kubectl("-n", "bootc-operator", "delete", "serviceaccount", "login")  # every token of it is refused from now on
kubectl("-n", "bootc-operator", "create", "serviceaccount", "login")
write_token(token())
time.sleep(12)  # an API server believes a token that it has seen for ten seconds more
is_seen("fourth")
check("run: a 401 renewed", runs() > before, runs())
check("run: it did not renew for each request", runs() <= before + 4, runs() - before)
service.terminate()
check("run: it ends in order", service.wait(30) == 0, service.returncode)
log.seek(0)
text = log.read()
check("run: the log has the program's words with the cluster's name", any("the login program speaks" in line and "cluster" in line for line in text.splitlines()), text[-2000:])
check("run: no token is in the log", (work / "token").read_text()[-40:] not in text)
kubectl("delete", "bootcnodepool", "--all")

# what goes wrong
broken = kubeconfig("broken", program("breaks", "echo 'session has ended: log in again' >&2; exit 4"))
said = windlass("helm", "list", "-A", "--kubeconfig", str(broken))
check("a program that fails: its words and its exit are told", said.returncode == 1 and "exit status 4" in said.stderr
      and "session has ended" in said.stderr, said)
gone = kubeconfig("gone", "no-such-login-program", installHint="Get it at example.org")
said = windlass("helm", "list", "-A", "--kubeconfig", str(gone))
check("a program that is not there: the hint is told", said.returncode == 1 and "Get it at example.org" in said.stderr, said)
hanging = kubeconfig("hanging", program("hangs", f"sleep 900 & echo $! > {work}/child; wait"))
began = time.monotonic()
said = windlass("helm", "list", "-A", "--kubeconfig", str(hanging))
check("a program that hangs: it is stopped and told", said.returncode == 1 and "it was stopped after 1m" in said.stderr, said)
wait("a program that hangs: what it started is gone", lambda: not pathlib.Path(f"/proc/{(work / 'child').read_text().strip()}").exists(), 10)
both = json.loads(good.read_text())
both["users"].append({"name": "bad", "user": json.loads(broken.read_text())["users"][0]["user"]})
both["users"].append({"name": "old", "user": {"auth-provider": {"name": "gcp"}}})
# Two names of one server are twins, of which the first acts.
both["clusters"].append({"name": "other", "cluster": {"server": "https://other.example.com:6443"}})
both["contexts"] += [{"name": "bad", "context": {"cluster": "other", "user": "bad"}}, {"name": "old", "context": {"cluster": "c", "user": "old"}}]
(work / "three").write_text(json.dumps(both))
said = windlass("cluster", "list", "--fleet", "contexts", "--kubeconfig", str(work / "three"), "-o", "json")
rows = {c["name"]: c for c in json.loads(said.stdout or '{"clusters": []}')["clusters"]}
check("three contexts: one is Live", rows.get("live", {}).get("state") == "Live", said)
check("three contexts: one is Unauthorized, with the program's words", rows.get("bad", {}).get("state") == "Unauthorized"
      and "session has ended" in rows.get("bad", {}).get("lastError", ""), rows)
check("three contexts: one is Invalid, with its cure", "gke-gcloud-auth-plugin" in rows.get("old", {}).get("lastError", ""), rows)

# in a Secret
secret = json.loads(good.read_text())
secret["users"][0]["user"]["exec"]["command"] = str(login)
secret["users"][0]["user"]["exec"]["args"] = ["--cluster", "a"]
kubectl("apply", "-f", "-", input=json.dumps({
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "member", "namespace": "bootc-operator",
                                                       "labels": {"sigs.k8s.io/multicluster-runtime-kubeconfig": "true"}},
    "data": {"kubeconfig": base64.b64encode(json.dumps(secret).encode()).decode()}}))
digest = hashlib.sha256(login.read_bytes()).hexdigest()


def member(*flags):
    out = windlass("cluster", "list", "--kubeconfig", KUBECONFIG, "--namespace", "bootc-operator", "--fleet", "secrets", "-o", "json", *flags)
    return {c["name"]: c for c in json.loads(out.stdout or '{"clusters": []}')["clusters"]}.get("member", {}), out


before = runs()
found, out = member()
check("a Secret: refused", "no program is run for a kubeconfig in a Secret" in found.get("lastError", ""), out)
found, out = member("--allow-exec", f"{login}@sha256:{digest} --cluster b")
check("a Secret: refused with other arguments", "with other arguments" in found.get("lastError", ""), out)
found, out = member("--allow-exec", f"{login}@sha256:{'0' * 64} --cluster a")
check("a Secret: another digest is not run", "it was not run" in found.get("lastError", ""), out)
check("a Secret: nothing ran", runs() == before, runs())
found, out = member("--allow-exec", f"{login}@sha256:{digest} --cluster a")
check("a Secret: allowed by path and digest", found.get("state") == "Live", out)
kubectl("-n", "bootc-operator", "delete", "secret", "member")
end("logins")
