-- Which project names which, what must agree, and the steps of a train. This file is meant to be edited: a project, an edge or a check is
-- a line. validate.lua refuses a name that no other line has and a word that means nothing, with its line.

-- Steps that more than one order has.
local nydus_check = { id = "nydus-check", title = "nydus-snapshotter is the same everywhere", needs = { "kata-pick" }, check = { "nydus" }, inputs = { "Kata" } }
local enclave_cc = { id = "enclave-cc", title = "runtime-payload of the enclave-cc release", with = "enclave-cc", needs = { "kata-pick" },
  check = { "runtime_payload" }, inputs = { "guest-components" } }
local bundle_pr = { id = "bundle-pr", title = "operator samples or Chart.yaml to that bundle", needs = { "nydus-check" }, inputs = { "Kata" }, proof = "link",
  looks_at = { "operator", "charts" }, check = { "operator_kata", "charts_kata", "reqs_payload" },
  suites = { "Kata", "operator", "charts" }, tested = true }
local bundle_release = { id = "bundle-release", title = "tag and publish the operator or chart", needs = { "bundle-pr" }, inputs = { "Kata" }, proof = "digest" }
local peerpods = { id = "peerpods", title = "release the peer pods", needs = { "kata-pick" }, inputs = { "Kata", "guest-components", "Trustee" },
  proof = "tags", project = "cloud-api-adaptor", suites = { "cloud-api-adaptor" },
  names = { "src/cloud-api-adaptor/{}", "src/cloud-providers/{}", "src/peerpod-ctrl/{}", "src/webhook/{}" } }
local notes = { id = "notes", title = "release notes and tag of the train", needs = { "bundle-release", "peerpods" },
  inputs = { "Kata", "guest-components", "Trustee" }, proof = "tags", project = "confidential-containers", names = { "{}" } }
local revert_ci = { id = "revert-ci", title = "pins back to CI payloads", needs = { "bundle-release" }, proof = "link" }
local site_tag = { id = "site-tag", title = "tag of the documentation", needs = { "notes" }, proof = "tags", project = "confidentialcontainers.org",
  names = { "{}" } }
local gc_release = { id = "gc-release", title = "release of guest-components", needs = { "gc-tag" }, inputs = { "guest-components" }, proof = "release",
  project = "guest-components" }
local trustee_release = { id = "trustee-release", title = "release of Trustee", needs = { "trustee-tag" }, inputs = { "Trustee" }, proof = "release",
  project = "Trustee" }
local trustee_images = { id = "trustee-images", title = "images of Trustee under the names of the release", needs = { "trustee-release" },
  inputs = { "Trustee" }, proof = "images", project = "Trustee" }

return {
  -- The project whose release a train rides on, and what says the train's own pin of each project.
  bundle = "Kata",
  pinned_by = "Kata",

  -- The projects that ship the bundle: what they pin of it must be one of its releases.
  packagers = { "operator", "charts" },

  -- The names that lines of this file and documents may use; a document may have more under `projects`.
  projects = {
    "Kata", "guest-components", "Trustee", "operator", "charts", "cloud-api-adaptor", "enclave-cc", "nydus-snapshotter", "td-shim",
    -- What is pinned of them under a name of its own, and what only has tags.
    "client-tool", "reqs-payload", "runtime-payload", "confidential-containers", "confidentialcontainers.org",
  },

  -- What depends on what. strong: `to` is built from `from`, so the order of projects follows it. pair: both must speak the same
  -- protocol, neither is built from the other. weak: may lag and may close a circle; `fields` are the pins that it is about.
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
    { from = "operator", to = "cloud-api-adaptor", kind = "strong" },
    { from = "charts", to = "cloud-api-adaptor", kind = "strong" },
    { from = "Trustee", to = "guest-components", kind = "pair" },
    { from = "guest-components", to = "Trustee", kind = "weak", field = "client-tool", fields = { "client-tool", "kbs_protocol", "kms" } },
    { from = "nydus-snapshotter", to = "Kata", kind = "same-version" },
    { from = "nydus-snapshotter", to = "operator", kind = "same-version" },
  },

  -- Two projects that speak with each other: protocol and evidence format must be the same.
  pairs = { { name = "protocol", "guest-components", "Trustee" } },

  -- Pins that must be there: where the holder takes part in a train (it is one of its projects or pins something) and does not pin
  -- the project, `check` says so. Without `field` any pin of the project does. `check`: the check that has nothing to look at without it.
  -- `severity`: less than train.pin-missing has.
  required = {
    { holder = "Kata", project = "guest-components", field = "version" },
    { holder = "Kata", project = "Trustee", field = "version" },
    { holder = "Kata", project = "nydus-snapshotter", field = "version", check = "nydus" },
    { holder = "operator", project = "nydus-snapshotter", field = "NYDUS_SNAPSHOTTER_VERSION", check = "nydus" },
    { holder = "operator", project = "Kata", field = "default", check = "operator_kata", severity = "warn" },
    { holder = "operator", project = "Kata", field = "peer-pods", check = "operator_kata", severity = "warn" },
    { holder = "operator", project = "Kata", field = "s390x", check = "operator_kata", severity = "warn" },
    { holder = "charts", project = "Kata", check = "charts_kata", severity = "warn" },
    { holder = "cloud-api-adaptor", project = "guest-components", severity = "warn" },
    { holder = "cloud-api-adaptor", project = "Trustee", severity = "warn" },
    { holder = "cloud-api-adaptor", project = "Kata", severity = "warn" },
  },

  -- A tag of an image belongs to a version: it is the version, or the version with something around it. `field` may end in a star.
  -- `names_image`: the pin may be the name of an image, with the version as its tag or without a tag.
  in_sync = {
    { name = "image_tag", holder = "Kata", project = "Trustee", field = "image_tag", to = "version",
      forms = { "{}", "built-in-as-{}" }, staged = "staged-images" },
    { name = "ita", holder = "Kata", project = "Trustee", field = "ita_image_tag", to = "version", forms = { "{}-x86_64" } },
    -- Newer files have images: {kbs, as, rvps} instead, by the image's name, with the version as its tag or without one; a star
    -- stands for whatever comes behind.
    { name = "images", holder = "Kata", project = "Trustee", field = "images.*", to = "version", forms = { "{}" },
      staged = "staged-images", names_image = true },
  },

  -- Several places that name one thing: those of `places` (holder, field), all that a `holder` pins of the project, or `every` pin
  -- whose project is called so, or whose field is, alone or as its first or last word. `fix`: where it is put right.
  same_version = {
    { name = "nydus", project = "nydus-snapshotter", fix = "the operator's install/pre-install-payload/Makefile, merged before going on",
      places = { { "Kata", "version" }, { "operator", "NYDUS_SNAPSHOTTER_VERSION" } } },
    -- `bundle`: they name the bundle that the train rides on, too.
    { name = "operator_kata", project = "Kata", bundle = true, fix = "the operator's config/samples/ccruntime",
      places = { { "operator", "default" }, { "operator", "peer-pods" }, { "operator", "s390x" } } },
    { name = "charts_kata", project = "Kata", bundle = true, holder = "charts", fix = "Chart.yaml of the charts" },
    -- However many name it: each sample has it, under the sample's name.
    { name = "reqs_payload", every = "reqs-payload", fix = "the operator's config/samples" },
    -- The payload of enclave-cc is called by its release.
    { name = "runtime_payload", every = "runtime-payload", release_of = "enclave-cc", fix = "the operator's config/samples/enclave-cc",
      forms = { "{}", "enclave-cc-SIM-sample-kbc-{}", "enclave-cc-HW-cc-kbc-{}" } },
  },

  -- Who must pin what the train pins. With a `field` it is about that pin, else about all that no other row names.
  mirrors = {
    { name = "caa_gc", holder = "cloud-api-adaptor", project = "guest-components" },
    { name = "caa_kbs", holder = "cloud-api-adaptor", project = "Trustee" },
    { name = "caa_kata", holder = "cloud-api-adaptor", project = "Kata" },
    { name = "caa_kata_module", holder = "cloud-api-adaptor", project = "Kata", field = "go.mod" },
    { name = "caa_kata_chart", holder = "cloud-api-adaptor", project = "Kata", field = "kata-deploy" },
  },

  -- The steps of a train. `order` of a document picks the list: "after" (its own projects are tagged after the bundle, since
  -- v0.9.0), "before", or "two-pass" (centrally driven, trains up to v0.8.0). Of a step:
  --   needs     the steps that come first
  --   inputs    the projects of which it takes what is pinned when it starts; of a step with `pin` it is that one
  --   check     rows of `check` that must say equal or sync; `looks_at`: holders of which at least one must pin the bundle
  --   suites    projects whose suites must not have failed; `tested`: at least one of them has passed for this content
  --   pin       proven by a tag of that project at the commit that the train pins
  --   proof     else: "bundle-release" a release of the bundle that is known; "digest" of an artefact; "tags" that are known, of
  --             `project`, the evidence put into each of `names`; "release" of a tag of `project`; "images" all that `project`
  --             promotes; "link" a page, a pull request or a commit
  --   with      the step is one of trains in which that project takes part
  steps = {
    after = {
      { id = "kata-pick", title = "choose a Kata release", proof = "bundle-release", suites = { "Kata" } },
      nydus_check,
      enclave_cc,
      bundle_pr,
      bundle_release,
      peerpods,
      notes,
      revert_ci,
      { id = "gc-tag", title = "tag the guest-components commit that Kata pins", needs = { "notes" }, pin = "guest-components" },
      gc_release,
      { id = "trustee-tag", title = "tag the Trustee commit that Kata pins", needs = { "notes" }, pin = "Trustee" },
      trustee_release,
      trustee_images,
      site_tag,
    },
    before = {
      { id = "gc-tag", title = "tag guest-components", pin = "guest-components", suites = { "guest-components" } },
      gc_release,
      { id = "trustee-tag", title = "tag Trustee", pin = "Trustee", suites = { "Trustee" } },
      trustee_release,
      trustee_images,
      { id = "kata-pick", title = "choose a Kata release", needs = { "gc-release", "trustee-images" }, proof = "bundle-release",
        suites = { "Kata" } },
      nydus_check,
      enclave_cc,
      bundle_pr,
      bundle_release,
      peerpods,
      notes,
      revert_ci,
      site_tag,
    },
    ["two-pass"] = {
      { id = "enclave-candidate", title = "enclave-cc takes the newest candidates", proof = "link", inputs = { "guest-components" } },
      { id = "kata-candidate", title = "Kata takes the newest candidates", proof = "link", inputs = { "guest-components", "Trustee" },
        suites = { "Kata" } },
      { id = "kata-payload", title = "payload of Kata is built", needs = { "kata-candidate" }, proof = "digest", inputs = { "Kata" } },
      { id = "pre-install", title = "pre-install payload is current", needs = { "kata-payload" }, check = { "nydus" } },
      { id = "operator-ci", title = "operator on CI payloads, its tests pass", needs = { "pre-install", "enclave-candidate" }, proof = "link",
        suites = { "Kata", "operator" }, tested = true },
      { id = "peerpods-candidate", title = "peer pods on the candidates", needs = { "operator-ci" }, proof = "link",
        suites = { "cloud-api-adaptor" } },
      { id = "as-release", title = "AS and RVPS are released", needs = { "peerpods-candidate" }, proof = "link", inputs = { "Trustee" } },
      { id = "gc-release", title = "guest-components is tagged and released", needs = { "as-release" }, pin = "guest-components" },
      { id = "td-shim-release", title = "td-shim is released", needs = { "gc-release" }, proof = "link" },
      { id = "kbs-release", title = "KBS pins the tags and is released", needs = { "td-shim-release" }, pin = "Trustee" },
      { id = "enclave-tags", title = "enclave-cc takes the tags", needs = { "kbs-release" }, proof = "link", inputs = { "guest-components" } },
      { id = "kata-tags", title = "Kata takes the tags", needs = { "kbs-release" }, proof = "link", inputs = { "guest-components", "Trustee" } },
      { id = "operator-tags", title = "operator on payloads of the tags", needs = { "enclave-tags", "kata-tags" }, proof = "link" },
      { id = "operator-green", title = "tests of the operator pass again", needs = { "operator-tags" }, suites = { "Kata", "operator" },
        proof = "link", tested = true },
      { id = "enclave-tag", title = "tag of enclave-cc", needs = { "operator-green" }, proof = "tags", project = "enclave-cc", names = { "{}" } },
      { id = "kata-tag", title = "tag of Kata", needs = { "operator-green" }, proof = "bundle-release", suites = { "Kata" } },
      { id = "release-payload", title = "payload of the Kata release is built", needs = { "kata-tag" }, proof = "digest", inputs = { "Kata" } },
      { id = "peerpods-release", title = "peer pods are released", needs = { "release-payload" }, proof = "tags", project = "cloud-api-adaptor",
        names = { "{}" } },
      { id = "operator-pins", title = "operator pins the release payloads", needs = { "release-payload", "enclave-tag" }, proof = "link",
        looks_at = { "operator" }, check = { "operator_kata", "reqs_payload" } },
      { id = "operator-version", title = "version of the operator", needs = { "operator-pins" }, proof = "link" },
      { id = "operator-release", title = "operator is released", needs = { "operator-version", "peerpods-release" }, proof = "digest",
        inputs = { "Kata" } },
      { id = "notes", title = "release notes and tag of the train", needs = { "operator-release" }, proof = "tags",
        project = "confidential-containers", names = { "{}" } },
      { id = "hub", title = "update of the operator hub", needs = { "notes" }, proof = "link" },
    },
  },

  -- What a promotion copies, of which project: from a candidate's image to a release's; {} is the commit there and the tag here.
  promote = {
    { project = "Trustee", from = "staged-images/kbs:{}", to = "key-broker-service:built-in-as-{}", arches = { "x86_64", "s390x" } },
    { project = "Trustee", from = "staged-images/kbs-grpc-as:{}", to = "key-broker-service:{}", arches = { "x86_64", "s390x" } },
    { project = "Trustee", from = "staged-images/kbs-ita-as:{}", to = "key-broker-service:ita-as-{}", arches = { "x86_64" } },
    { project = "Trustee", from = "staged-images/kbs-client:sample_only-{}", to = "kbs-client:{}", arches = { "x86_64", "s390x" } },
    { project = "Trustee", from = "staged-images/rvps:{}", to = "reference-value-provider-service:{}", arches = { "x86_64", "s390x" } },
    { project = "Trustee", from = "staged-images/coco-as-grpc:{}", to = "attestation-service:{}", arches = { "x86_64", "s390x" } },
    { project = "Trustee", from = "staged-images/coco-as-restful:{}", to = "attestation-service:rest-{}", arches = { "x86_64", "s390x" } },
  },

  -- What the index over the images of a row calls their architectures.
  architectures = { x86_64 = "amd64", aarch64 = "arm64", s390x = "s390x" },

  -- What names the commit that last changed the pre-install folder.
  reqs_payload = "reqs-payload",

  -- Values that name something else tomorrow.
  floating = { "latest", "main", "-latest$", "^0%.0%.0%-dev" },

  -- A freeze is too old after so many days; which releases of the bundle a train rides on: "every", "every-2" (by their position in
  -- the list), "odd" or "even" (by their minor).
  freeze_days = 30,
  -- The bundle has a release every so many months.
  bundle_months = 1,
  cadence = "every",

  severities = {
    ["check.not-evaluated"] = "warn",
    ["step.cycle"] = "error",
    ["step.inputs-moved"] = "warn",
    ["step.inputs-unknown"] = "warn",
    ["step.regressed"] = "error",
    ["step.unproven"] = "warn",
    ["train.ambiguous-commit"] = "error",
    ["train.behind"] = "info",
    ["train.bundle-kind"] = "approval",
    ["train.candidate-mismatch"] = "error",
    ["train.candidate-moved"] = "error",
    ["train.comment-mismatch"] = "info",
    ["train.cycle"] = "error",
    ["train.digest-moved"] = "error",
    ["train.evidence-skew"] = "warn",
    ["train.floating-pin"] = "error",
    ["train.freeze-stale"] = "warn",
    ["train.frozen"] = "error",
    ["train.locked"] = "info",
    ["train.match-none"] = "error",
    ["train.match-untested"] = "warn",
    ["train.off-cadence"] = "approval",
    ["train.pair-moved-alone"] = "approval",
    ["train.partial-promotion"] = "error",
    ["train.pin-in-sync"] = "error",
    ["train.pin-mismatch"] = "error",
    ["train.pin-missing"] = "error",
    ["train.reqs-stale"] = "error",
    ["train.retest-required"] = "warn",
    ["train.retest-skipped"] = "info",
    ["train.same-version"] = "error",
    ["train.schema"] = "error",
    ["train.skew"] = "error",
    ["train.tag-exists"] = "error",
    ["train.unknown-field"] = "info",
    ["train.unknown-name"] = "error",
    ["train.unreleased-dep"] = "info",
    ["train.weak-stale"] = "info",
  },
}
