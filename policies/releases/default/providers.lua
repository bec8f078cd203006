-- What the OS image of a Release is called. One line is one rule; this file is meant to be edited.
--
-- provider   the word in front of a Release's name ("aws" of "aws-34.5.0")
--   folder     where its Releases are stored, when that is not the provider's name
--   chart      the component whose version decides which rule applies; "cluster-<provider>" when not given
--   channel    the release channel of the OS where a pool names none
--   limit      the longest name in characters; least: the shortest
--   allowed    a name consists of these characters: what stands between [ ] in a Lua pattern
--   ends       the same for its first and last character
--   replace    { ".", "-" }: the first character becomes the second, where names do not take it
--   copies     where the name is copied to, by copies of tables.lua ("label"): its limits hold as well
--   rules      the row with the highest `from` <= chart version < `to` applies; each part is optional
--                id     what findings and `explain` call it
--                name   the name: {kubernetes} is that component's version, {x:major} its first number,
--                       {channel} {architecture} {suffix} come from the pool, {values.x} from the chart's values,
--                       {hash} from the list of tools that are baked in;
--                       [-{suffix}] is left out when something in it is absent, [a|b] is the first that is complete
--                tags   instead of a name: tags that must all match
--                none   instead of a name: the provider brings its own images
--                constant  instead of a name: what the chart has for each of its versions; `reads` takes it apart. A list of { name,
--                          version, … } rather than a line for each version
--                version   the version of the image in a gallery
--                ref    where the image is fetched from: "registry.example.com/os/node:{image}"
--   pools      by kind of pool: what is fixed for it in charts `from` <= version < `to`
--   architectures  how a pool's architecture appears in a name; false: not at all

-- The form before os-tooling, which some charts had as a constant; in the first ones nothing stood behind the version.
local former = "flatcar-{channel}-{flatcar}-kube-v{kubernetes}[-gs]"
local current = "flatcar-{channel}-{flatcar}-kube-{kubernetes}-tooling-{os-tooling}-gs"

return {
  aws = {
    folder = "capa", limit = 128, least = 3, allowed = "%w()%[%]./'@_ -",
    architectures = { x86_64 = false, amd64 = false, arm64 = "arm64" },
    rules = {
      -- Charts of before Releases: everything comes from the chart's values.
      { id = "W1", from = "0.65.0", to = "1.0.0",
        name = "capa-ami-flatcar-stable-v{values.kubernetesVersion}[-{values.osImageVariant}]-gs" },
      { id = "V1", from = "1.0.0", to = "1.3.3",
        name = "flatcar-stable-{flatcar}-kube-v{kubernetes}-[alpha.{flatcar-variant:major}|gs]" },
      { id = "T1", from = "1.3.3", to = "8.5.0", name = current },
      -- No Release carries such a chart yet: pools of arm64 machines exist from it on, and have images of their own.
      { id = "T2", from = "8.5.0",
        name = "flatcar-{channel}-{flatcar}-kube-{kubernetes}-tooling-{os-tooling}-[{architecture}-]gs" },
    },
    pools = {
      karpenter = {
        { from = "4.0.0", to = "8.9.0", channel = "stable" },
        { from = "8.5.0", to = "8.9.0", architecture = "" },
      },
    },
  },

  azure = {
    limit = 80, allowed = "%w_.-", ends = "%w",
    rules = {
      -- Charts of before Releases: everything comes from the chart's values.
      { id = "W1", to = "0.0.32", name = "capi-flatcar-stable-{values.kubernetesVersion}-gen2" },
      { id = "W2", from = "0.0.32", to = "0.9.0", name = "capi-flatcar-stable-{values.kubernetesVersion}-gen2-gs" },
      { id = "W3", from = "0.9.0", to = "0.17.0", name = "capi-flatcar-{channel}-{values.kubernetesVersion}-gen2-gs" },
      { id = "P1", from = "0.17.0", to = "1.0.0", name = "flatcar-stable-{flatcar}-kube-v{kubernetes}-gs",
        version = "{flatcar}" },
      { id = "T1", from = "1.0.0", name = current, version = "{flatcar}" },
    },
  },

  vsphere = {
    limit = 80, allowed = "%w_. -",
    rules = {
      -- The default of the chart's own values, as each of its versions was published.
      { id = "S1", to = "0.65.1", constant = {
          { "flatcar-stable-3602.2.1-kube-v1.24.12-gs", "0.9.0", "0.9.1", "0.9.2", "0.9.3", "0.9.4", "0.9.5", "0.9.6", "0.9.7", "0.9.8", "0.9.9" },
          { "flatcar-stable-3602.2.1-kube-v1.25.16-gs", "0.10.0", "0.10.1", "0.10.2", "0.10.3", "0.50.0", "0.51.0" },
          { "flatcar-stable-3815.2.0-kube-v1.26.15-gs", "0.52.0" },
          { "flatcar-stable-3815.2.2-kube-v1.27.14-gs", "0.53.0", "0.53.1", "0.54.0", "0.55.0", "0.56.0", "0.56.1", "0.57.0", "0.57.1",
            "0.58.0", "0.58.1", "0.58.2", "0.58.3", "0.59.0", "0.60.0", "0.60.1", "0.61.0", "0.62.0", "0.63.0", "0.64.0", "0.65.0" },
        },
        reads = former },
      { id = "T1", from = "0.65.1", to = "1.0.0", name = current },
      { id = "T3", from = "1.0.0", name = current .. "[-{suffix}]" },
    },
  },

  ["cloud-director"] = {
    limit = 128, allowed = "%w_. -",
    rules = {
      -- As for vsphere; the first of them had no -gs behind. A version that is not listed is refused (image.rule-none), and no
      -- name is guessed.
      { id = "S1", to = "0.63.0", constant = {
          { "flatcar-stable-3602.2.1-kube-v1.25.16", "0.50.0" },
          { "flatcar-stable-3815.2.1-kube-v1.25.16", "0.51.0", "0.52.0", "0.52.1", "0.53.0", "0.53.1", "0.54.0", "0.54.1" },
          { "flatcar-stable-3815.2.0-kube-v1.26.14", "0.55.0" },
          { "flatcar-stable-3815.2.2-kube-v1.27.14", "0.56.0", "0.56.1", "0.56.2" },
          { "flatcar-stable-3815.2.2-kube-v1.27.14-gs", "0.57.0", "0.58.0", "0.59.0", "0.60.0", "0.61.0", "0.61.1", "0.61.2", "0.62.0" },
        },
        reads = former },
      { id = "T1", from = "0.63.0", name = current },
    },
  },

  -- Names take no dots there. No Release is made for it yet; the scheme is ready for the first.
  gcp = {
    limit = 63, allowed = "%l%d-", ends = "%l%d", replace = { ".", "-" },
    rules = { { id = "T1", name = current } },
  },

  proxmox = {
    rules = {
      -- Templates are found by their tags: there is nothing to name, and all of them must match.
      { id = "G1", from = "1.0.0",
        tags = { "release-channel_{channel}", "flatcar_{flatcar}", "kubernetes_{kubernetes}",
          "os-tooling_{os-tooling}" } },
    },
  },

  -- Managed nodes: the provider's own image, although Releases list flatcar and os-tooling.
  eks = { rules = { { id = "N0", none = true } } },
  aks = { rules = { { id = "N0", none = true } } },
}
