# For IBM Secure Execution: put the values of your image in place of <se.…>.
package policy

import rego.v1

default allow := false

allow if {
	data.plugin == "resource"
	evidence := input.submods.cpu0["ear.veraison.annotated-evidence"].se
	evidence.attestation_phkh == "<se.attestation_phkh>"
	evidence.image_phkh == "<se.image_phkh>"
	evidence.tag == "<se.tag>"
	evidence.version == 256
}
