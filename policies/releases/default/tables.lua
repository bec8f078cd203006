-- What is checked, how much it matters, and which names are known. This file is meant to be edited.

return {
  -- The channel of the OS where neither pool nor provider names one, and what a version of each channel has as its
  -- second number.
  channel = "stable",
  channels = { alpha = 0, beta = 1, stable = 2, lts = 3 },

  -- A test build of a chart ("7.2.5-25383e1") is looked up as what it will become; "strict": by its own place in the order.
  chart_builds = "base",

  -- A pre-release Release is judged by the requests to its base version; "strict": by its own place in the order.
  prereleases = "base",

  -- Revisions that are written as pre-releases and mean the contrary: 1.27.3-gs10 comes after -gs9 and after 1.27.3.
  -- `name` is one component or app, or absent for all; `suffix` is what stands before the number.
  revisions = {
    { suffix = "gs" },
    { name = "etcd", suffix = "" },
  },

  -- From this major on a Release N.x.y carries Kubernetes 1.N.
  kubernetes_from_major = 25,

  -- Components that every machine of a cluster consists of: going back is an error there, a warning elsewhere.
  node_components = { "kubernetes", "flatcar", "os-tooling", "flatcar-variant" },

  -- A change of these replaces machines whether or not it shows in the name of the image.
  rolling = { "kubernetes" },

  -- Which change needs which Release at least: a new minor of os-tooling needs a minor Release. The first row that fits
  -- counts; `name` may end in *, `app` and `component` stand for all of a kind. No entry: no rule.
  levels = {
    { name = "os-tooling", major = "major", minor = "minor", severity = "error" },
    { name = "kubernetes", major = "major", minor = "major", severity = "error" },
    { name = "flatcar" },
    { name = "cluster-*", major = "major", minor = "minor", severity = "warn" },
    { kind = "app", major = "major", minor = "minor", severity = "warn" },
    { kind = "component", major = "major", minor = "minor", severity = "warn" },
  },

  -- A change of one without the other is worth a look.
  tied = { { "teleport-kube-agent", "os-tooling" } },

  -- Components that a Release may have beside its provider's chart; a name may begin with *.
  components = { "kubernetes", "flatcar", "os-tooling", "flatcar-variant", "etcd" },
  -- The same for Releases that are called v1.2.3.
  old_components = { "kubernetes", "containerlinux", "calico", "etcd", "coredns", "*-operator" },

  -- What apps may depend on although no Release lists it: it comes from inside of other apps.
  provided = { "prometheus-operator-crd", "kyverno-crds", "kyverno", "alloy-logs", "karpenter" },

  -- How much each finding matters: error, warn or info; "approval": a warning that waits for somebody's consent.
  severities = {
    ["app.downgrade"] = "warn",
    ["app.duplicate"] = "error",
    ["app.kube-version"] = "warn",
    ["channel.mismatch"] = "error",
    ["check.not-evaluated"] = "warn",
    ["component.downgrade"] = "error",
    ["component.duplicate"] = "error",
    ["component.missing"] = "error",
    ["component.removed"] = "warn",
    ["component.unknown"] = "warn",
    ["depends.cycle"] = "error",
    ["depends.unknown"] = "warn",
    ["image.bad-char"] = "error",
    ["image.drift"] = "warn",
    ["image.not-built"] = "error",
    ["image.override"] = "info",
    ["image.rule-ambiguous"] = "error",
    ["image.rule-none"] = "error",
    ["image.too-long"] = "error",
    ["k8s.minor-mismatch"] = "error",
    ["k8s.minor-skip"] = "error",
    ["level.too-high"] = "error",
    ["nodes.may-roll"] = "warn",
    ["nodes.roll"] = "info",
    ["nodes.roll-in-patch"] = "approval",
    ["path.downgrade"] = "warn",
    ["pool.architecture"] = "error",
    ["prerelease.in-stable"] = "error",
    ["release.duplicate-content"] = "warn",
    ["release.name-mismatch"] = "error",
    ["release.schema"] = "error",
    ["release.unknown-field"] = "info",
    ["release.unregistered"] = "error",
    ["release.version-not-string"] = "error",
    ["request.dead"] = "info",
    ["request.missing"] = "error",
    ["request.no-reason"] = "warn",
    ["request.syntax"] = "error",
    ["request.violated"] = "error",
    ["tied.skew"] = "warn",
    ["variant.conflict"] = "error",
    ["variant.ignored"] = "info",
    ["variant.obsolete"] = "warn",
  },
}
