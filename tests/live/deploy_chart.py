#!/usr/bin/env python3
"""Our chart by our engine and by the stock helm: the same bytes, the same lint, the same errors.

    tests/live/deploy_chart.py BUILD_FOLDER        the peer is $HELM, ~/go/bin/helm or the one on PATH
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OURS = [str(pathlib.Path(sys.argv[1]) / "windlass"), "helm"]
HELM = os.environ.get("HELM") or next((str(p) for p in [pathlib.Path.home() / "go/bin/helm"] if p.exists()), None) or shutil.which("helm")
CHART = str(ROOT / "deploy/chart")
VALUES = ["image.registry=a/b", "namespace.create=true", "serviceMonitor.enabled=true,serviceMonitor.labels.a=b", "prometheusRule.enabled=true,dashboard.enabled=true", "daemon.enabled=false,crds.install=false", "fleet.from=self", "trustee.enabled=true", "controller.enabled=false,namespace.create=true", "fleet.namespace=clusters",
          "image.repository=r.example.com/w,image.tag=edge", "image.digest=sha256:" + "a" * 64, "name=windlass,controller.replicas=3",
          "imagePullSecrets[0].name=pull,commonLabels.a=b,podLabels.c=d,podAnnotations.e=f", "controller.extraArgs[0]=--policies=/p,controller.affinity.nodeAffinity.x=y",
          "networkPolicy.enabled=false,podDisruptionBudget.enabled=false", "daemon.enable=false", "controller.replicas=many",
          "tenants.enabled=true,serviceLimits.namespaces={a,b},fleet.namespace=clusters", "fleetPools.enabled=true,fleetCharts.enabled=true,fleetCharts.namespaces={a,b},fleet.namespace=clusters", "fleetCharts.enabled=true,controller.enabled=false", "daemon.namespace=n,daemon.createNamespace=false,pullSecrets={p,q},networkPolicy.metricsFrom=null"]


def said(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    if not HELM:
        print("live deploy chart: SKIPPED: no stock helm (set HELM)")
        return 0
    flags = ["template", "windlass", CHART, "-n", "os", "--kube-version", "1.36.0"]
    asked = [flags] + [[*flags, "--set", f"image.registry=registry.example.com,{v}"] for v in VALUES] + [["lint", CHART], ["lint", "--strict", CHART, "--set", "name=Upper"], ["show", "all", CHART]]
    wrong = 0
    for arguments in asked:
        ours, theirs = said([*OURS, *arguments]), said([HELM, *arguments])
        if ours != theirs:
            wrong += 1
            print(f"live deploy chart: helm {' '.join(arguments)}: ours {ours[0]} {ours[2]!r}, stock {theirs[0]} {theirs[2]!r}, equal output: {ours[1] == theirs[1]}")
    print(f"## deploy/chart: {len(asked) - wrong} of {len(asked)} commands equal to {HELM}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
