# For IBM Secure Execution: put the values of your image in place of <se.…>.
package policy

import future.keywords.if

default allow := false

allow if {
	evidence := input["tcb-status"]
	evidence["se.attestation_phkh"] == "<se.attestation_phkh>"
	evidence["se.image_phkh"] == "<se.image_phkh>"
	evidence["se.tag"] == "<se.tag>"
	evidence["se.version"] == 256
}
