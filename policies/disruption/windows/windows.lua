-- Windows by name; a pool names one in its label windlass.dev/window. Hours are those of the clocks on the wall in `zone`,
-- daylight saving time included. A window whose end is not after its beginning ends on the next day; it belongs to the day
-- on which it begins.
local weekdays = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday" }
return {
  nights = { zone = "UTC", from = "22:00", to = "05:00", days = weekdays },
  ["office-hours"] = { zone = "UTC", from = "09:00", to = "16:00", days = weekdays },
}
