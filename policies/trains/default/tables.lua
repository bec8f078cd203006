-- Who names whom, what must agree, and the steps of a train. This file is meant to be edited: a project, an edge or a check is
-- a line.

return {
  -- The project whose release a train rides on, and what says the train's own pin of each project.
  bundle = "Kata",
  pinned_by = "Kata",

  -- Pins are edges: holder depends on project. What depends on each other beside the pins; weak ones may close a circle.
  edges = {
    { from = "guest-components", to = "Kata", kind = "strong" },
    { from = "Trustee", to = "Kata", kind = "strong" },
    { from = "Kata", to = "operator", kind = "strong" },
    { from = "Kata", to = "charts", kind = "strong" },
    { from = "guest-components", to = "cloud-api-adaptor", kind = "strong" },
    { from = "Trustee", to = "cloud-api-adaptor", kind = "strong" },
    { from = "Kata", to = "cloud-api-adaptor", kind = "strong" },
    { from = "guest-components", to = "enclave-cc", kind = "strong" },
    { from = "enclave-cc", to = "operator", kind = "strong" },
    { from = "Trustee", to = "guest-components", kind = "strong" },
    { from = "guest-components", to = "Trustee", kind = "weak", field = "client-tool" },
  },

  -- Two projects that speak with each other: protocol and evidence format must be the same.
  pairs = { { name = "protocol", "guest-components", "Trustee" } },

  -- A tag of an image belongs to a version: it is the version, or the version with something around it. `field` may end in a star.
  -- `untagged`: the pin may name the image alone, whose tag is the version then.
  in_sync = {
    { name = "image_tag", holder = "Kata", project = "Trustee", field = "image_tag", to = "version",
      forms = { "{}", "built-in-as-{}" }, staged = "staged-images" },
    { name = "ita", holder = "Kata", project = "Trustee", field = "ita_image_tag", to = "version", forms = { "{}-x86_64" } },
    -- Newer files have images: {kbs, as, rvps} instead; a star stands for whatever comes behind.
    { name = "images", holder = "Kata", project = "Trustee", field = "images.*", to = "version", forms = { "{}" },
      staged = "staged-images", untagged = true },
  },

  -- Several places that name one thing: those of `places` (holder, field) or `every` pin whose project is called so, or whose
  -- field is, alone or as its first or last word. `fix`: where it is put right.
  same_version = {
    { name = "nydus", project = "nydus-snapshotter", fix = "the operator's install/pre-install-payload/Makefile, merged before going on",
      places = { { "Kata", "version" }, { "operator", "NYDUS_SNAPSHOTTER_VERSION" } } },
    { name = "operator_kata", project = "Kata", fix = "the operator's config/samples/ccruntime",
      places = { { "operator", "default" }, { "operator", "peer-pods" }, { "operator", "s390x" } } },
    -- However many name it: each sample has it, under the sample's name.
    { name = "reqs_payload", every = "reqs-payload", fix = "the operator's config/samples" },
  },

  -- Who must pin what the train pins.
  mirrors = {
    { name = "caa_gc", holder = "cloud-api-adaptor", project = "guest-components" },
    { name = "caa_kbs", holder = "cloud-api-adaptor", project = "Trustee" },
    { name = "caa_kata", holder = "cloud-api-adaptor", project = "Kata" },
  },

  -- The steps of a train whose own projects are tagged after the bundle. `pin`: a step about a project is proven by its tag
  -- being at the commit that the train pins. `inputs`: the projects of which it takes what is pinned when it starts; of a step
  -- with `pin` it is that one.
  steps = {
    after = {
      { id = "kata-pick" },
      { id = "nydus-check", needs = { "kata-pick" }, check = "nydus", inputs = { "Kata" } },
      { id = "bundle-pr", needs = { "nydus-check" }, inputs = { "Kata" } },
      { id = "bundle-release", needs = { "bundle-pr" }, inputs = { "Kata" } },
      { id = "peerpods", needs = { "kata-pick" }, inputs = { "Kata", "guest-components", "Trustee" } },
      { id = "notes", needs = { "bundle-release", "peerpods" }, inputs = { "Kata", "guest-components", "Trustee" } },
      { id = "revert-ci", needs = { "bundle-release" } },
      { id = "gc-tag", needs = { "notes" }, pin = "guest-components" },
      { id = "gc-release", needs = { "gc-tag" }, inputs = { "guest-components" } },
      { id = "trustee-tag", needs = { "notes" }, pin = "Trustee" },
      { id = "trustee-release", needs = { "trustee-tag" }, inputs = { "Trustee" } },
      { id = "trustee-images", needs = { "trustee-release" }, inputs = { "Trustee" } },
      { id = "site-tag", needs = { "notes" } },
    },
    before = {
      { id = "gc-tag", pin = "guest-components" },
      { id = "gc-release", needs = { "gc-tag" }, inputs = { "guest-components" } },
      { id = "trustee-tag", pin = "Trustee" },
      { id = "trustee-release", needs = { "trustee-tag" }, inputs = { "Trustee" } },
      { id = "trustee-images", needs = { "trustee-release" }, inputs = { "Trustee" } },
      { id = "kata-pick", needs = { "gc-release", "trustee-images" } },
      { id = "nydus-check", needs = { "kata-pick" }, check = "nydus", inputs = { "Kata" } },
      { id = "bundle-pr", needs = { "nydus-check" }, inputs = { "Kata" } },
      { id = "bundle-release", needs = { "bundle-pr" }, inputs = { "Kata" } },
      { id = "peerpods", needs = { "kata-pick" }, inputs = { "Kata", "guest-components", "Trustee" } },
      { id = "notes", needs = { "bundle-release", "peerpods" }, inputs = { "Kata", "guest-components", "Trustee" } },
      { id = "revert-ci", needs = { "bundle-release" } },
      { id = "site-tag", needs = { "notes" } },
    },
  },

  -- What a promotion copies: from a candidate's image to a release's; {} is the commit there and the tag here.
  promote = {
    { from = "staged-images/kbs:{}", to = "key-broker-service:built-in-as-{}", arches = { "x86_64", "s390x" } },
    { from = "staged-images/kbs-grpc-as:{}", to = "key-broker-service:{}", arches = { "x86_64", "s390x" } },
    { from = "staged-images/kbs-ita-as:{}", to = "key-broker-service:ita-as-{}", arches = { "x86_64" } },
    { from = "staged-images/kbs-client:sample_only-{}", to = "kbs-client:{}", arches = { "x86_64", "s390x" } },
    { from = "staged-images/rvps:{}", to = "reference-value-provider-service:{}", arches = { "x86_64", "s390x" } },
    { from = "staged-images/coco-as-grpc:{}", to = "attestation-service:{}", arches = { "x86_64", "s390x" } },
    { from = "staged-images/coco-as-restful:{}", to = "attestation-service:rest-{}", arches = { "x86_64", "s390x" } },
  },

  -- What the index over the images of a row calls their architectures.
  architectures = { x86_64 = "amd64", aarch64 = "arm64", s390x = "s390x" },

  -- What names the commit that last changed the pre-install folder.
  reqs_payload = "reqs-payload",

  -- Values that name something else tomorrow.
  floating = { "latest", "main", "-latest$", "^0%.0%.0%-dev" },

  -- A freeze is too old after so many days; a train rides on every so manieth release of the bundle.
  freeze_days = 30,
  -- The bundle has a release every so many months.
  bundle_months = 1,
  cadence = "every",

  severities = {
    ["check.not-evaluated"] = "warn",
    ["step.inputs-moved"] = "warn",
    ["step.inputs-unknown"] = "warn",
    ["step.regressed"] = "error",
    ["step.unproven"] = "warn",
    ["train.ambiguous-commit"] = "error",
    ["train.behind"] = "info",
    ["train.bundle-kind"] = "approval",
    ["train.candidate-moved"] = "error",
    ["train.comment-mismatch"] = "info",
    ["train.cycle"] = "error",
    ["train.digest-moved"] = "error",
    ["train.evidence-skew"] = "warn",
    ["train.floating-pin"] = "error",
    ["train.freeze-stale"] = "warn",
    ["train.frozen"] = "error",
    ["train.match-none"] = "error",
    ["train.match-untested"] = "warn",
    ["train.off-cadence"] = "approval",
    ["train.pair-moved-alone"] = "approval",
    ["train.partial-promotion"] = "error",
    ["train.pin-in-sync"] = "error",
    ["train.pin-mismatch"] = "error",
    ["train.reqs-stale"] = "error",
    ["train.retest-required"] = "warn",
    ["train.retest-skipped"] = "info",
    ["train.same-version"] = "error",
    ["train.schema"] = "error",
    ["train.skew"] = "error",
    ["train.tag-exists"] = "error",
    ["train.unknown-field"] = "info",
    ["train.unreleased-dep"] = "info",
    ["train.weak-stale"] = "info",
  },
}
