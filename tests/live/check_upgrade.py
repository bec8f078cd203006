#!/usr/bin/env python3
"""`windlass check upgrade` on an embedded API server and on a real one that hold the same: releases with a PodSecurityPolicy, with policy/v1beta1 and with a
definition of v1beta1. Both answers have to be equal. Then what a real server alone has: a definition that a server of 1.21 left, a webhook without a Service,
an object of a beta version that it serves and what it counts, an account that may not look at all. Last 50,000 and 200,000 objects on the embedded one: the
memory and the time that they take.

    KUBEBUILDER_ASSETS=D tests/live/check_upgrade.py BUILD_FOLDER

Starts servers of its own. Ends with one JSON line for each number: {"live", "objects", "seconds", "mib_above_rest"}.
"""
import base64
import concurrent.futures
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import own_server
from old_objects import CRD, PDB, PSP, missing_in, release
from waits import check, until

BUILD = pathlib.Path(sys.argv[1]).resolve()
OBJECTS, MOST_MIB = (50_000, 200_000), 64


def definition(name):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{name}s.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                     "names": {"plural": f"{name}s", "singular": name, "kind": name.title(), "listKind": f"{name.title()}List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}


def left_by_an_older_server(real, name):
    """What kubectl applied as v1beta1 before 1.22, as it lies in etcd after the upgrades: no newer server takes such managers from a client."""
    def ask(what, **body):
        request = urllib.request.Request(f"http://127.0.0.1:{real.client}/v3/kv/{what}", json.dumps(body).encode())
        return json.loads(urllib.request.urlopen(request, timeout=10).read())

    key = base64.b64encode(f"/registry/apiextensions.k8s.io/customresourcedefinitions/{name}".encode()).decode()
    stored = json.loads(base64.b64decode(ask("range", key=key)["kvs"][0]["value"]))
    stored["metadata"]["managedFields"] = [
        {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "apiextensions.k8s.io/v1beta1", "time": "2021-01-01T00:00:00Z",
         "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:group": {}, "f:scope": {}}}}]
    ask("put", key=key, value=base64.b64encode(json.dumps(stored).encode()).decode())


class Cluster:
    def __init__(self, kubeconfig):
        self.kubeconfig = str(kubeconfig)

    def kubectl(self, *arguments, stdin=None):
        done = subprocess.run([own_server.ASSETS / "kubectl", "--kubeconfig", self.kubeconfig, *arguments], input=stdin and json.dumps(stdin),
                              capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, f"kubectl {arguments}: {done.stderr}")
        return done.stdout

    def create(self, *objects):
        for o in objects:
            self.kubectl("create", "-f", "-", stdin=o)

    def look(self, to, *more, ends=1, kubeconfig=None):
        done = subprocess.run([BUILD / "windlass", "check", "upgrade", "--to", to, "--kubeconfig", kubeconfig or self.kubeconfig, *more], capture_output=True,
                              text=True, timeout=300)
        check(done.returncode == ends, f"check upgrade --to {to} {more} ended with {done.returncode}, not {ends}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def findings(self, to, *more, **how):
        return json.loads(self.look(to, "-o", "json", *more, **how))


def same_on_both(clusters):
    answers = []
    for one in clusters:
        one.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}, release("policies", PSP), release("web", PDB),
                   release("kinds", CRD))
        answer = one.findings("1.25")
        answers.append(answer["findings"])
        check(not answer["partial"], f"all was looked at: {answer['clusters']}")
        told = one.look("1.25")
        missing = missing_in(told, "Helm release shop/policies")
        check(not missing, f"one line has {missing}:\n{told}")
        check(one.look("1.25", "-o", "github").count("::error ") == 3, "three lines for a workflow")
        check(one.findings("1.21", ends=0)["findings"] == [], "before that nothing is removed")
    check(len(answers[0]) == 3 and answers[0] == answers[1], f"both servers are said to have the same:\n{answers[0]}\n{answers[1]}")


def waivers(cluster, folder):
    file = folder / "waivers.yaml"
    file.write_text("waivers:\n- {object: '*', api: 'policy/v1beta1', reason: the chart moves, until: '2999-01-01'}\n"
                    "- {object: 'CustomResourceDefinition/*', api: '*', reason: applied again in May, until: '2999-01-01'}\n")
    told = cluster.look("1.25", "--waivers", str(file), ends=0)
    check("0 found" in told and "3 waived" in told and "until 2999-01-01: the chart moves" in told, told)
    file.write_text(file.read_text().replace("until: '2999-01-01'}\n-", "until: '2020-01-01'}\n-"))
    told = cluster.look("1.25", "--waivers", str(file))
    check("2 found" in told and "ended with 2020-01-01" in told, told)
    file.write_text("waivers: [{object: a, api: b, until: '2999-01-01'}]")
    cluster.look("1.25", "--waivers", str(file), ends=1)


def real_alone(cluster, folder, server):
    cluster.create(definition("cart"), definition("shop"))
    cluster.kubectl("wait", "--for=condition=Established", "crd/carts.example.com", "crd/shops.example.com", "--timeout=20s")
    left_by_an_older_server(server, "carts.example.com")
    left_by_an_older_server(server, "shops.example.com")
    rows = {f["object"]: f for f in until(lambda: [f for f in cluster.findings("1.25")["findings"] if "Custom" in f["object"] and "live" in f["sources"]],
                                          "the server shows what is stored")}
    carts, shops = rows["CustomResourceDefinition/carts.example.com"], rows["CustomResourceDefinition/shops.example.com"]
    check(carts["owner"] == "field manager kubectl-client-side-apply" and carts["sources"] == ["live"], carts)
    check(shops["owner"] == "Helm release shop/kinds" and shops["sources"] == ["release", "live"], shops)
    cluster.create({"apiVersion": "storage.k8s.io/v1beta1", "kind": "VolumeAttributesClass", "metadata": {"name": "gold"}, "driverName": "example.com",
                    "parameters": {"iops": "100"}},
                   {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "shop"}, "webhooks": [
                       {"name": "shop.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
                        "clientConfig": {"service": {"namespace": "shop", "name": "none"}},
                        "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["shops"]}]}]})
    newer = {f["object"]: f for f in cluster.findings("1.37")["findings"]}
    gold, hook = newer["VolumeAttributesClass/gold"], newer["ValidatingWebhookConfiguration/shop"]
    check(gold["replacement"] == "storage.k8s.io/v1" and gold["owner"] == "field manager kubectl-create" and gold["sources"] == ["live"], gold)
    check("Service shop/none, which does not exist" in hook["message"], hook)
    counted = newer["Requests/volumeattributesclasses"]
    check(counted["sources"] == ["requests"] and counted["removedIn"] == "1.37", counted)
    check("VolumeAttributesClass/gold" not in {f["object"] for f in cluster.findings("1.36")["findings"]}, "1.36 serves it")
    # Who may look at objects and not at Secrets or metrics.
    cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "looks", "namespace": "shop"}},
                   {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "looks"}, "rules": [
                       {"apiGroups": ["batch", "networking.k8s.io", "policy", "apiextensions.k8s.io"], "resources": ["*"], "verbs": ["list"]},
                       {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": ["get", "list"]}]},
                   {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "looks"},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "looks"},
                    "subjects": [{"kind": "ServiceAccount", "name": "looks", "namespace": "shop"}]})
    config = json.loads(cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    config["users"][0]["user"] = {"token": cluster.kubectl("create", "token", "looks", "-n", "shop").strip()}
    lesser = folder / "lesser"
    lesser.write_text(json.dumps(config))
    answer = cluster.findings("1.25", kubeconfig=str(lesser))
    unseen = {u["what"]: u["needed"] for c in answer["clusters"] for u in c["notLookedAt"]}
    check(answer["partial"] and unseen.get("secrets") is True and unseen.get("metrics") is False, answer["clusters"])
    check({f["object"] for f in answer["findings"]} == set(rows), answer["findings"])


def fill(cluster, first, end):
    """Ingresses with numbers from `first` to before `end`, by as many writers as are worth it."""
    server = json.loads(cluster.kubectl("config", "view", "--raw", "-o", "json"))["clusters"][0]["cluster"]["server"]
    at = urllib.parse.urlparse(server)

    def some(begin):
        connection = http.client.HTTPConnection(at.hostname, at.port)
        for i in range(begin, end, 8):
            body = json.dumps({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": f"web-{i}", "namespace": "shop"},
                               "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}})
            connection.request("POST", "/apis/networking.k8s.io/v1/namespaces/shop/ingresses", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            check(answer.status == 201, answer.status)
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        check(all(pool.map(some, range(first, first + 8))), "all are there")


def peak(cluster):
    """The answer, its seconds and the most MiB that the process had."""
    began = time.monotonic()
    process = subprocess.Popen([BUILD / "windlass", "check", "upgrade", "--to", "1.25", "--kubeconfig", cluster.kubeconfig, "-o", "json"],
                               stdout=subprocess.PIPE)
    answer = json.loads(process.stdout.read())
    _, _, used = os.wait4(process.pid, 0)
    return answer, time.monotonic() - began, used.ru_maxrss / 1024


def main():
    if not own_server.is_there():
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "real").mkdir()
        real, embedded = own_server.Server(folder / "real"), None
        try:
            embedded = subprocess.Popen([BUILD / "windlass", "apiserver", "--dir", folder / "embedded"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: (folder / "embedded/kubeconfig").exists(), "an embedded API server")
            real.start("--runtime-config", "storage.k8s.io/v1beta1=true")
            ours, theirs = Cluster(folder / "embedded/kubeconfig"), Cluster(real.kubeconfig)
            same_on_both([ours, theirs])
            waivers(ours, folder)
            real_alone(theirs, folder, real)
            _, _, rest = peak(ours)
            there = 0
            for objects in OBJECTS:
                fill(ours, there, objects)
                there = objects
                answer, took, most = peak(ours)
                check(answer["clusters"][0]["objects"] >= objects and len(answer["findings"]) == 3 and not answer["partial"], answer["clusters"])
                check(most - rest <= MOST_MIB, f"{objects} objects take {most - rest:.0f} MiB above rest, {rest:.0f}")
                print(json.dumps({"live": "check_upgrade", "objects": objects, "seconds": round(took, 1), "mib_above_rest": round(most - rest, 1)}), flush=True)
        finally:
            if embedded:
                embedded.kill()
                embedded.wait()
            real.stop()


main()
