# What the evidence of a CPU is worth.
# Numbers are AR4SI claims: 2 to 31 affirm, 32 to 95 warn, 96 to 127 are contraindicated; 0 says nothing.
# This release reads these three rules and no other.
package policy

import rego.v1

default executables := 33

default hardware := 97

default configuration := 36

# Sample evidence, for trials.
executables := 3 if {
	input.sample
	input.sample.launch_digest in data.reference.launch_digest
}

hardware := 2 if {
	input.sample
	input.sample.svn in data.reference.svn
	input.sample.platform_version.major == data.reference.major_version
	input.sample.platform_version.minor >= data.reference.minimum_minor_version
}

# AMD SEV-SNP
executables := 3 if {
	input.snp
	input.snp.measurement in data.reference.snp_launch_measurement
}

hardware := 2 if {
	input.snp
	input.snp.reported_tcb_bootloader in data.reference.snp_bootloader
	input.snp.reported_tcb_microcode in data.reference.snp_microcode
	input.snp.reported_tcb_snp in data.reference.snp_snp_svn
	input.snp.reported_tcb_tee in data.reference.snp_tee_svn
}

snp_closed if {
	input.snp.policy_debug_allowed == false
	input.snp.policy_migrate_ma == false
}

snp_as_known if {
	input.snp
	input.snp.platform_smt_enabled == data.reference.snp_smt_enabled
	input.snp.platform_tsme_enabled == data.reference.snp_tsme_enabled
	input.snp.policy_abi_major == data.reference.snp_guest_abi_major
	input.snp.policy_abi_minor == data.reference.snp_guest_abi_minor
	input.snp.policy_single_socket == data.reference.snp_single_socket
	input.snp.policy_smt_allowed == data.reference.snp_smt_allowed
}

configuration := 2 if {
	snp_closed
	snp_as_known
}

configuration := 3 if {
	snp_closed
	not snp_as_known
}

# Intel TDX
tdx_measured if {
	input.tdx
	input.tdx.quote.body.rtmr_1 in data.reference.rtmr_1
	input.tdx.quote.body.rtmr_2 in data.reference.rtmr_2
}

tdx_kernel contains digest.digest if {
	some event in input.tdx.uefi_event_logs
	event.type_name == "EV_EFI_BOOT_SERVICES_APPLICATION"
	"File(kernel)" in event.details.device_paths
	some digest in event.digests
}

# One value is registered, or a list; what is no list must not be looked through.
tdx_kernel_known if {
	count(tdx_kernel) > 0
	data.reference.tdvfkernel in tdx_kernel
}

tdx_kernel_known if {
	count(tdx_kernel) > 0
	registered := data.reference.tdvfkernel
	is_array(registered)
	some digest in registered
	digest in tdx_kernel
}

tdx_parameters contains digest.digest if {
	some event in input.tdx.uefi_event_logs
	event.type_name == "EV_EVENT_TAG"
	event.details.string == "LOADED_IMAGE::LoadOptions"
	some digest in event.digests
}

tdx_parameters_known if {
	count(tdx_parameters) > 0
	data.reference.tdvfkernelparams in tdx_parameters
}

tdx_parameters_known if {
	count(tdx_parameters) > 0
	registered := data.reference.tdvfkernelparams
	is_array(registered)
	some digest in registered
	digest in tdx_parameters
}

tdx_boot_known if {
	tdx_kernel_known
	tdx_parameters_known
}

executables := 3 if {
	tdx_measured
	tdx_boot_known
}

executables := 4 if {
	tdx_measured
	not tdx_boot_known
}

# A module that differs from a registered one.
tdx_module_other if {
	input.tdx
	registered := data.reference.mr_seam
	not input.tdx.quote.body.mr_seam in registered
}

tdx_module_other if {
	input.tdx
	registered := data.reference.tcb_svn
	not input.tdx.quote.body.tcb_svn in registered
}

hardware := 2 if {
	input.tdx.quote.header.tee_type == "81000000"
	input.tdx.quote.header.vendor_id == "939a7233f79c4ca9940a0db3957f0607"
	input.tdx.quote.body.mr_td in data.reference.mr_td
	not tdx_module_other
	input.tdx.tcb_status == "OK"
	input.tdx.collateral_expiration_status == "0"
}

configuration := 2 if {
	input.tdx.td_attributes.debug == false
	input.tdx.quote.body.xfam in data.reference.xfam
}

# Azure's vTPM on SEV-SNP: claims other than `tpm` are texts. What the verifier proved stands unless it differs from a registered value.
azure_snp := input.azsnpvtpm

azure_snp_pcr_other if {
	azure_snp
	registered := data.reference.snp_pcr03
	not azure_snp.tpm.pcr03 in registered
}

azure_snp_pcr_other if {
	azure_snp
	registered := data.reference.snp_pcr08
	not azure_snp.tpm.pcr08 in registered
}

azure_snp_pcr_other if {
	azure_snp
	registered := data.reference.snp_pcr09
	not azure_snp.tpm.pcr09 in registered
}

azure_snp_pcr_other if {
	azure_snp
	registered := data.reference.snp_pcr12
	not azure_snp.tpm.pcr12 in registered
}

azure_snp_measurement_other if {
	azure_snp
	registered := data.reference.measurement
	not azure_snp.measurement in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := data.reference.tcb_bootloader
	not azure_snp.reported_tcb_bootloader in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := data.reference.tcb_microcode
	not azure_snp.reported_tcb_microcode in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := data.reference.tcb_snp
	not azure_snp.reported_tcb_snp in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := data.reference.tcb_tee
	not azure_snp.reported_tcb_tee in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := data.reference.smt_enabled
	not azure_snp.platform_smt_enabled in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := data.reference.tsme_enabled
	not azure_snp.platform_tsme_enabled in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := data.reference.abi_major
	not azure_snp.policy_abi_major in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := data.reference.abi_minor
	not azure_snp.policy_abi_minor in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := data.reference.single_socket
	not azure_snp.policy_single_socket in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := data.reference.smt_allowed
	not azure_snp.policy_smt_allowed in registered
}

executables := 3 if {
	azure_snp
	azure_snp.tpm.pcr03 in data.reference.snp_pcr03
	azure_snp.tpm.pcr08 in data.reference.snp_pcr08
	azure_snp.tpm.pcr09 in data.reference.snp_pcr09
	azure_snp.tpm.pcr11 in data.reference.snp_pcr11
	azure_snp.tpm.pcr12 in data.reference.snp_pcr12
	not azure_snp_measurement_other
}

executables := 3 if {
	azure_snp
	azure_snp.measurement in data.reference.measurement
	azure_snp.tpm.pcr11 in data.reference.snp_pcr11
	not azure_snp_pcr_other
}

hardware := 2 if {
	azure_snp
	not azure_snp_tcb_other
}

configuration := 2 if {
	azure_snp
	not azure_snp.policy_debug_allowed == "true"
	not azure_snp_setting_other
}

# Azure's vTPM on TDX.
azure_tdx := input.aztdxvtpm

azure_tdx_pcr_other if {
	azure_tdx
	registered := data.reference.tdx_pcr03
	not azure_tdx.tpm.pcr03 in registered
}

azure_tdx_pcr_other if {
	azure_tdx
	registered := data.reference.tdx_pcr08
	not azure_tdx.tpm.pcr08 in registered
}

azure_tdx_pcr_other if {
	azure_tdx
	registered := data.reference.tdx_pcr09
	not azure_tdx.tpm.pcr09 in registered
}

azure_tdx_pcr_other if {
	azure_tdx
	registered := data.reference.tdx_pcr12
	not azure_tdx.tpm.pcr12 in registered
}

azure_tdx_module_other if {
	azure_tdx
	registered := data.reference.mr_td
	not azure_tdx.quote.body.mr_td in registered
}

azure_tdx_module_other if {
	azure_tdx
	registered := data.reference.mr_seam
	not azure_tdx.quote.body.mr_seam in registered
}

azure_tdx_module_other if {
	azure_tdx
	registered := data.reference.tcb_svn
	not azure_tdx.quote.body.tcb_svn in registered
}

azure_tdx_setting_other if {
	azure_tdx
	registered := data.reference.xfam
	not azure_tdx.quote.body.xfam in registered
}

executables := 3 if {
	azure_tdx
	azure_tdx.tpm.pcr11 in data.reference.tdx_pcr11
	not azure_tdx_pcr_other
}

hardware := 2 if {
	azure_tdx.quote.header.tee_type == "81000000"
	azure_tdx.quote.header.vendor_id == "939a7233f79c4ca9940a0db3957f0607"
	not azure_tdx_module_other
	azure_tdx.tcb_status == "OK"
}

configuration := 2 if {
	azure_tdx
	not azure_tdx.td_attributes.debug
	not azure_tdx_setting_other
}

# IBM Secure Execution: claims exist only when the verifier found everything right.
executables := 3 if input.se

hardware := 2 if input.se

configuration := 2 if input.se
