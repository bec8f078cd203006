-- The smallest change that clears a finding, for those that may block. {name}: what follows the slash of its subject; {from}, {to}:
-- its own. A sentence with one that is empty is left out.
return {
  ["step.regressed"] = "bring back what proved step {name}",
  ["train.ambiguous-commit"] = "write more digits of the commit",
  ["train.bundle-kind"] = "ride on a release of the bundle, or consent to it",
  ["train.candidate-moved"] = "go back to {from}, or give freeze.fixup the reason",
  ["train.cycle"] = "make one edge of the circle weak",
  ["train.digest-moved"] = "put {from} back, or test {to} and take its `was` out of the facts",
  ["train.evidence-skew"] = "pin two that use the same evidence",
  ["train.floating-pin"] = "pin a commit, a tag of a release or a digest",
  ["train.frozen"] = "end the freeze, or leave its pins alone",
  ["train.match-none"] = "add the train that has it to `trains`",
  ["train.off-cadence"] = "wait for the next release in the cadence, or consent to it",
  ["train.pair-moved-alone"] = "let the suite of the pair pass, or move the other one as well",
  ["train.partial-promotion"] = "build {from}",
  ["train.pin-in-sync"] = "set it to what belongs to {to}",
  ["train.pin-mismatch"] = "pin {to}",
  ["train.reqs-stale"] = "pin {to}",
  ["train.same-version"] = "set it to {to}",
  ["train.schema"] = "put the field right that the evidence names",
  ["train.skew"] = "pin two that speak the same protocol",
  ["train.tag-exists"] = "take the next patch as the tag",
}
