-- What is checked, how much it matters, and which names are known. This file is meant to be edited.

return {
  -- The channel of the OS where neither pool nor provider names one, and what a version of each channel has as its
  -- second number.
  channel = "stable",
  channels = { alpha = 0, beta = 1, stable = 2, lts = 3 },

  -- A test build of a chart ("7.2.5-25383e1") is looked up as what it will become; "strict": by its own place in the order.
  chart_builds = "base",

  -- The tool that stands for the image builder itself where a name carries a hash of the tools.
  builder = "image-builder",
  -- So many digits of it are in the name, behind an h.
  hash_digits = 10,

  -- Where a name is copied to, and what may stand there; a provider says with `copies` which of them it needs.
  copies = {
    label = { limit = 63, allowed = "%w_.-", ends = "%w" },
    ["dns-label"] = { limit = 63, allowed = "%l%d-", ends = "%l%d" },
  },

  -- What is inside of each version of os-tooling, where that is known: then a new major of a binary is judged as one of a
  -- component is, by the row `binary` of levels.
  -- `toolbox` is the component whose versions these are.
  -- A name with {hash} carries the hash of it, and then the builder belongs to it as well.
  -- A binary that not every provider's image has gets its version by provider.
  -- A component that is none of `components` and not the chart is such a binary as well, with its version in the Release.
  --   ["1.31.0"] = { ["image-builder"] = "1.4.0", containerd = "1.7.25", teleport = "17.4.8", ["ssm-agent"] = { aws = "3.3.1" } },
  toolbox = "os-tooling",
  binaries = {},
  -- Components that are in no image, beside the chart: a name with {hash} does not change with them.
  not_baked = { "etcd" },

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

  -- What a chart renders that machines are made from: who renders one of these otherwise replaces machines. A name may begin
  -- with *.
  machine_kinds = { "*MachineTemplate", "*ConfigTemplate", "*MachinePool", "KubeadmConfig", "KubeadmControlPlane" },

  -- Which change needs which Release at least: a new minor of os-tooling needs a minor Release. The first row that fits
  -- counts; `name` may end in *, `app` and `component` stand for all of a kind. No entry: no rule.
  levels = {
    { name = "os-tooling", major = "major", minor = "minor", severity = "error" },
    { name = "kubernetes", major = "major", minor = "major", severity = "error" },
    { name = "flatcar" },
    { name = "cluster-*", major = "major", minor = "minor", severity = "warn" },
    { kind = "app", major = "major", minor = "minor", severity = "warn" },
    { kind = "component", major = "major", minor = "minor", severity = "warn" },
    { kind = "binary", major = "major", severity = "error" },
  },

  -- Apps that belong to one minor of Kubernetes: a new minor without a new one of these is worth a look.
  coupled = { "cloud-provider-aws", "cloud-provider-vsphere", "cloud-provider-cloud-director", "azure-cloud-controller-manager" },

  -- A change of one without the other is worth a look.
  tied = { { "teleport-kube-agent", "os-tooling" } },

  -- Components that a Release may have beside its provider's chart; a name may begin with *.
  components = { "kubernetes", "flatcar", "os-tooling", "flatcar-variant", "etcd" },
  -- The same for Releases that are called v1.2.3.
  old_components = { "kubernetes", "containerlinux", "calico", "etcd", "coredns", "*-operator" },

  -- What apps may depend on although no Release lists it: it comes from inside of other apps.
  provided = { "prometheus-operator-crd", "kyverno-crds", "kyverno", "alloy-logs", "karpenter" },

  -- The stages of a draft, in order; the one that a draft without a stage may enter at once.
  stages = { "development", "active", "freeze", "merged" },
  first_stage = "active",
  -- By stage: who may do what; false: no one. "version": change one, "pin": hold one, "refresh": the automatic one.
  stage_rights = {
    freeze = { version = "release-team", refresh = false },
    merged = { version = false, pin = false, refresh = false },
  },

  -- The suites that must have passed for the content of a Release, by folder.
  suites = {
    capa = { "standard", "upgrade", "upgrade-major", "cilium-eni-mode", "china", "private" },
    azure = { "standard", "upgrade", "upgrade-major", "private" },
    vsphere = { "standard", "upgrade", "upgrade-major", "on-capa", "on-capz" },
    ["cloud-director"] = { "standard", "upgrade", "upgrade-major" },
    eks = { "standard", "upgrade", "upgrade-major" },
    -- Of these none is asked for. A folder that is not here at all is said not to be looked at.
    aks = {},
    proxmox = {},
  },

  -- A refresh leaves drafts alone that are younger than so many hours.
  refresh_after_hours = 24,

  -- Providers whose Releases go their own way: the others share their majors and minors.
  exempt = { "eks" },

  -- How the chart of a Release is published: under which name, and which of its values says the version.
  published = { chart = "release-{provider}", value = "global.release.version" },

  -- The latest Release of so many majors stays active whether or not a cluster has it.
  kept_majors = 3,

  -- How many versions of each baked-in component are tried when the newest combination was not built.
  combinations = 6,
  -- How often a bump is planned again without the versions that `check` denies.
  rounds = 6,

  -- How much each finding matters: error, warn or info; "approval": a warning that waits for consent.
  severities = {
    ["app.downgrade"] = "warn",
    ["app.duplicate"] = "error",
    ["app.kube-version"] = "warn",
    ["binary.downgrade"] = "warn",
    ["bump.held-back"] = "warn",
    ["bump.kind"] = "error",
    ["bump.kubernetes"] = "error",
    ["bump.major-open"] = "error",
    ["bump.nothing"] = "info",
    ["bump.taken"] = "warn",
    ["bump.unknown-item"] = "warn",
    ["bump.unpublished"] = "error",
    ["bump.version"] = "error",
    ["channel.mismatch"] = "error",
    ["check.not-evaluated"] = "warn",
    ["component.downgrade"] = "error",
    ["component.duplicate"] = "error",
    ["component.missing"] = "error",
    ["component.removed"] = "warn",
    ["component.unknown"] = "warn",
    ["coverage.missing"] = "approval",
    ["coverage.rerun-failed"] = "info",
    ["depends.cycle"] = "error",
    ["depends.unknown"] = "warn",
    ["image.bad-char"] = "error",
    ["image.drift"] = "warn",
    ["image.hash-collision"] = "error",
    ["image.hash-incomplete"] = "warn",
    ["image.hash-invalid"] = "error",
    ["image.not-built"] = "error",
    ["image.override"] = "info",
    ["image.rule-ambiguous"] = "error",
    ["image.rule-none"] = "error",
    ["image.too-long"] = "error",
    ["join.apart"] = "warn",
    ["k8s.minor-mismatch"] = "error",
    ["k8s.minor-skip"] = "error",
    ["level.too-high"] = "error",
    ["nodes.may-roll"] = "warn",
    ["nodes.roll"] = "info",
    ["nodes.roll-in-patch"] = "approval",
    ["path.denied"] = "error",
    ["path.downgrade"] = "warn",
    ["path.none"] = "error",
    ["path.not-offered"] = "error",
    ["pin.bad-until"] = "error",
    ["pin.partly"] = "info",
    ["pin.unknown-item"] = "error",
    ["pool.architecture"] = "error",
    ["prerelease.in-stable"] = "error",
    ["provider.unknown"] = "error",
    ["readiness.open"] = "error",
    ["release.duplicate-content"] = "warn",
    ["release.name-mismatch"] = "error",
    ["release.schema"] = "error",
    ["release.test-active"] = "approval",
    ["release.unknown-field"] = "info",
    ["release.unregistered"] = "error",
    ["release.version-not-string"] = "error",
    ["request.conflict"] = "error",
    ["request.dead"] = "info",
    ["request.missing"] = "error",
    ["request.no-reason"] = "warn",
    ["request.syntax"] = "error",
    ["request.violated"] = "error",
    ["stage.denied"] = "error",
    ["suite.unknown"] = "warn",
    ["tied.skew"] = "warn",
    ["usage.not-found"] = "warn",
    ["usage.unknown"] = "warn",
    ["variant.conflict"] = "error",
    ["variant.ignored"] = "info",
    ["variant.obsolete"] = "warn",
  },
}
