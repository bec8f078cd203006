"""Clusters that are members of a fleet: their API servers are real, the host of each node is played."""
import json
import threading
import time

import rollout


class Member:
    def __init__(self, name, kubeconfig):
        self.name, self.kubeconfig, self.node = name, kubeconfig, f"{name}-node"

    def kubectl(self, *arguments, text=None):
        try:
            return rollout.kubectl(*arguments, text=text, kubeconfig=self.kubeconfig)
        except RuntimeError as why:
            raise RuntimeError(f"{self.name}: {why}") from None

    def apply(self, what):
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=what if isinstance(what, str) else json.dumps(what))

    def make_node(self, labels, booted):
        self.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.node, "labels": labels}})
        self.report(True, booted)

    def make_pool(self, name, ref, labels, annotations=None):
        self.apply({"apiVersion": "node.bootc.dev/v1alpha1", "kind": "BootcNodePool", "metadata": {"name": name, "annotations": annotations or {}},
                    "spec": {"nodeSelector": {"matchLabels": labels}, "image": {"ref": ref}, "rollout": {"maxUnavailable": 1}}})

    def pool(self, name):
        return json.loads(self.kubectl("get", "bootcnodepool", name, "-o", "json", "--show-managed-fields"))

    def report(self, ready, boot_id):
        """As its kubelet would."""
        rollout.report_node(self.node, ready, boot_id, self.kubectl)

    def forget(self):
        """Leaves nothing behind, although nobody is there any more who would let a pool go."""
        if "bootcnodepools" not in self.kubectl("api-resources", "--api-group=node.bootc.dev", "-o", "name"):
            return
        for pool in self.kubectl("get", "bootcnodepools", "-o", "name").split():
            self.kubectl("patch", pool, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        for kind in ("bootcnodepools", "bootcnodes"):
            self.kubectl("delete", kind, "--all", "--timeout=30s")
        self.kubectl("delete", "node", self.node, "--ignore-not-found", "--timeout=30s")


class Machine(rollout.Machine):
    """The host of a member's node with the daemon on it, which may go down at any time: what is asked is which image a node has, and when."""

    off_for = 0.5

    def __init__(self, member, folder, booted):
        self.member = member
        super().__init__(member.node, folder, member.kubeconfig, booted)

    def report(self, ready, boot_id):
        self.member.report(ready, boot_id)

    def goes_down(self):
        pass


class Play:
    """Moves machines along, in a thread, until it is ended."""

    def __init__(self):
        self.machines, self.problem, self.ending = [], None, threading.Event()
        self.thread = threading.Thread(target=self.go_on)

    def go_on(self):
        try:
            while not self.ending.is_set():
                for m in self.machines:
                    m.tick()
                time.sleep(0.1)
        except Exception as why:  # noqa: BLE001  whoever waits says it
            self.problem = why

    def end(self):
        self.ending.set()
        if self.thread.is_alive():
            self.thread.join()
        for m in self.machines:
            m.kill()
