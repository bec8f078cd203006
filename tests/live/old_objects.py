"""What a cluster of before Kubernetes 1.25 has: releases whose manifests are of versions that are gone since."""
import base64
import gzip
import json

PSP = "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: strict}\n"
CRD = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.com}\n"
PDB = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 1}\n"


def release(name, manifest):
    """A deployed revision as stock Helm stores it."""
    record = {"name": name, "namespace": "shop", "version": 1, "manifest": manifest, "config": {}, "chart": {"metadata": {"name": name, "version": "1.0.0"}},
              "info": {"status": "deployed", "first_deployed": "2022-01-01T00:00:00Z", "last_deployed": "2022-01-01T00:00:00Z"}}
    text = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode()))).decode()
    return {"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "data": {"release": text},
            "metadata": {"name": f"sh.helm.release.v1.{name}.v1", "namespace": "shop",
                         "labels": {"owner": "helm", "name": name, "status": "deployed", "version": "1"}}}


def lines_of(policy_owner):
    """What each of the three lines of `check upgrade --to 1.25` has to say."""
    return (["PodSecurityPolicy/strict", policy_owner, "policy/v1beta1", "1.25"],
            ["shop", "PodDisruptionBudget/web", "Helm release shop/web", "policy/v1beta1", "1.25", "policy/v1 "],
            ["CustomResourceDefinition/shops.example.com", "Helm release shop/kinds", "apiextensions.k8s.io/v1beta1", "1.22", "apiextensions.k8s.io/v1 "])


def missing_in(told, policy_owner):
    """The first of them that no line of the answer says; none where all are there."""
    return next((words for words in lines_of(policy_owner) if not any(all(w in line for w in words) for line in told.splitlines())), None)
