-- One row a pin, the first that fits counts. api, cluster and name may be left out: then the row fits all of them.
--
--     { cluster = "prod-eu", name = "workers", version = "1.4.2" },
return {}
