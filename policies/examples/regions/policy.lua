-- Values by region, for FleetCharts with the label example.com/values=regions: images come from the mirror of the cluster's
-- region, the host has the cluster's name, and outside of production one replica is enough.
local mirrors = { eu = "registry.eu.example.com", us = "registry.us.example.com" }

local function values(chart, cluster, now)
  local region = cluster.labels.region
  if not region then
    return { hold = { code = "NoRegion", reason = "the cluster " .. cluster.name .. " has no label region" } }
  end
  if not mirrors[region] then
    return { hold = { code = "NoMirror", reason = "the region " .. region .. " has no mirror" } }
  end
  local answer = {
    image = { registry = mirrors[region] },
    ingress = { host = chart.name .. "." .. cluster.name .. ".example.com" },
  }
  if cluster.labels.env ~= "prod" then answer.replicas = 1 end
  return { values = answer }
end

return { name = "regions", version = "1", api = 2, order = 30, applies = { objects = { ["example.com/values"] = "regions" } },
  fleet = { values = values } }
