-- A Shop becomes a ConfigMap, a Secret whose value no person sees, and a Deployment from a template.
local function sync(shop, related, children, files)
  if shop.deleting then return { children = {} } end
  local name = shop.name .. "-shop"
  local template = files.text["deployment.yaml"]
  local deployment = children["Deployment/" .. name]
  local ready = deployment ~= nil and deployment.ready
  local function object(kind, fields)
    fields.apiVersion = kind == "Deployment" and "apps/v1" or "v1"
    fields.kind, fields.metadata = kind, { name = name, labels = { shop = shop.name } }
    return fields
  end
  return {
    children = {
      { object = object("ConfigMap", { data = { greeting = shop.spec.greeting or "welcome" } }) },
      { object = object("Secret", { data = {
        token = { generate = "password", length = 40 },
        key = { generate = "ed25519" },
        ["key.pub"] = { public_of = "key" },
      } }) },
      {
        object = object("Deployment", { spec = fill(yaml.decode(template),
          { name = name, shop = shop.name, image = shop.spec.image or "shop:1",
            replicas = shop.spec.replicas or 1 }) }),
        inputs = { "ConfigMap/" .. name, "Secret/" .. name },
      },
    },
    status = { observedGeneration = shop.generation },
    conditions = { { type = "Ready", status = ready and "True" or "False",
      reason = ready and "RolledOut" or "RollingOut" } },
  }
end

return {
  name = "shop", version = "1",
  composes = {
    parents = { { apiVersion = "example.com/v1", kind = "Shop" } },
    children = { { apiVersion = "v1", kind = "ConfigMap" }, { apiVersion = "v1", kind = "Secret" },
      { apiVersion = "apps/v1", kind = "Deployment" } },
    data = "data", finalizer = "example.com/shop",
  },
  compose = { sync = sync },
}
