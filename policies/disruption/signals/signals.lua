-- The signals that a rollout must leave alone, with their bounds. Copy the folder, name yours here, and give the copy to
-- `windlass run --policies`; the hosts go into --allow-signal-host. The fields of a signal are those of docs/hooks.md, and
--     at_most = 0.01, at_least = 0.99   its value may be neither above nor below; one of them at least
-- Each needs a query that answers one number also when nothing goes wrong, such as `sum(rate(…)) or vector(0)`.
return {
  soak_seconds = 600, -- inside of their bounds for that long after a unit has moved, before the next one moves
  look_again = 15,    -- seconds between two looks while a unit waits
  signals = {
    -- { name = "errors", prometheus = "https://prometheus.example.com", secret = "prometheus-login", at_most = 0.01,
    --   query = [[sum(rate(http_requests_total{cluster="${cluster}",code=~"5.."}[5m])) or vector(0)]] },
  },
}
