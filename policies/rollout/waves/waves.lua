-- Clusters go wave by wave; the label of a cluster's Secret at home names its wave. Those without one go last.
return {
  label = "windlass.dev/wave",
  order = { "canary", "early", "main" },
  soak_seconds = 3600,   -- a finished wave is watched that long before the next one begins
  failures = 0,          -- so many degraded units of the waves before are allowed
}
