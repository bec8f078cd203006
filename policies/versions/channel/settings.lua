return {
  range = ">= 0.0.0",          -- for units whose object names none
  channel = "",                -- only versions of this channel; empty: of any
  prereleases = false,
  soak_seconds = 24 * 3600,    -- no unit moves to a version that came out less than a day ago
  freezes = {                  -- { from = "2026-12-20", to = "2027-01-06", reason = "end of the year" },
  },
  skip = {                     -- { version = "1.4.1", reason = "loses its disk" },
  },
}
