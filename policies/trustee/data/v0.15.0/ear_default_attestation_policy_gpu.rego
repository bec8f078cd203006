# What the evidence of a GPU is worth.
# Numbers are AR4SI claims: 2 to 31 affirm, 32 to 95 warn, 96 to 127 are contraindicated; 0 says nothing.
# This release has no rule for a GPU of NVIDIA in its own policy either: its verifier names measurements, and judges none of them.
package policy

import rego.v1

default hardware := 97

# Sample device, for trials.
hardware := 2 if input.sampledevice.svn in data.reference.device_svn
