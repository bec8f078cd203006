-- What holds for pools that say nothing by a label. nil: the pack is not asked for them.
return {
  max_per_zone = nil,   -- such as 1
}
