-- Which cluster waits for which: it begins when the pool of the same name is up to date there. A name that no pool has is
-- waited for: its cluster may not be connected yet.
return {   -- ["prod-eu"] = { "dev-eu", "stage-eu" },
}
