# What the evidence of a CPU is worth.
# Numbers are AR4SI claims: 2 to 31 affirm, 32 to 95 warn, 96 to 127 are contraindicated; 0 says nothing.
package policy

import rego.v1

default executables := 33

default hardware := 97

default configuration := 36

default file_system := 0

default instance_identity := 0

default runtime_opaque := 0

default storage_opaque := 0

default sourced_data := 0

trust_claims := {
	"executables": executables,
	"hardware": hardware,
	"configuration": configuration,
	"file-system": file_system,
	"instance-identity": instance_identity,
	"runtime-opaque": runtime_opaque,
	"storage-opaque": storage_opaque,
	"sourced-data": sourced_data,
}

# Sample evidence, for trials.
executables := 3 if {
	input.sample
	input.sample.launch_digest in query_reference_value("launch_digest")
}

hardware := 2 if {
	input.sample
	input.sample.svn in query_reference_value("svn")
	input.sample.platform_version.major == query_reference_value("major_version")
	input.sample.platform_version.minor >= query_reference_value("minimum_minor_version")
}

configuration := 2 if input.sample.debug == false

# AMD SEV-SNP
executables := 3 if {
	input.snp
	input.snp.measurement in query_reference_value("snp_launch_measurement")
}

hardware := 2 if {
	input.snp
	input.snp.reported_tcb_bootloader in query_reference_value("snp_bootloader")
	input.snp.reported_tcb_microcode in query_reference_value("snp_microcode")
	input.snp.reported_tcb_snp in query_reference_value("snp_snp_svn")
	input.snp.reported_tcb_tee in query_reference_value("snp_tee_svn")
}

snp_closed if {
	input.snp.policy_debug_allowed == false
	input.snp.policy_migrate_ma == false
}

snp_as_known if {
	input.snp
	input.snp.platform_smt_enabled == query_reference_value("snp_smt_enabled")
	input.snp.platform_tsme_enabled == query_reference_value("snp_tsme_enabled")
	input.snp.policy_abi_major == query_reference_value("snp_guest_abi_major")
	input.snp.policy_abi_minor == query_reference_value("snp_guest_abi_minor")
	input.snp.policy_single_socket == query_reference_value("snp_single_socket")
	input.snp.policy_smt_allowed == query_reference_value("snp_smt_allowed")
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
	input.tdx.quote.body.rtmr_1 in query_reference_value("rtmr_1")
	input.tdx.quote.body.rtmr_2 in query_reference_value("rtmr_2")
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
	query_reference_value("tdvfkernel") in tdx_kernel
}

tdx_kernel_known if {
	count(tdx_kernel) > 0
	registered := query_reference_value("tdvfkernel")
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
	query_reference_value("tdvfkernelparams") in tdx_parameters
}

tdx_parameters_known if {
	count(tdx_parameters) > 0
	registered := query_reference_value("tdvfkernelparams")
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
	registered := query_reference_value("mr_seam")
	registered != null
	not input.tdx.quote.body.mr_seam in registered
}

tdx_module_other if {
	input.tdx
	registered := query_reference_value("tcb_svn")
	registered != null
	not input.tdx.quote.body.tcb_svn in registered
}

hardware := 2 if {
	input.tdx.quote.header.tee_type == "81000000"
	input.tdx.quote.header.vendor_id == "939a7233f79c4ca9940a0db3957f0607"
	input.tdx.quote.body.mr_td in query_reference_value("mr_td")
	not tdx_module_other
	input.tdx.tcb_status == "UpToDate"
	input.tdx.collateral_expiration_status == "0"
}

configuration := 2 if {
	input.tdx.td_attributes.debug == false
	input.tdx.quote.body.xfam in query_reference_value("xfam")
}

# Azure's vTPM on SEV-SNP: claims other than `tpm` are texts. What the verifier proved stands unless it differs from a registered value.
azure_snp := input["az-snp-vtpm"]

azure_snp_pcr_other if {
	azure_snp
	registered := query_reference_value("snp_pcr03")
	registered != null
	not azure_snp.tpm.pcr03 in registered
}

azure_snp_pcr_other if {
	azure_snp
	registered := query_reference_value("snp_pcr08")
	registered != null
	not azure_snp.tpm.pcr08 in registered
}

azure_snp_pcr_other if {
	azure_snp
	registered := query_reference_value("snp_pcr09")
	registered != null
	not azure_snp.tpm.pcr09 in registered
}

azure_snp_pcr_other if {
	azure_snp
	registered := query_reference_value("snp_pcr12")
	registered != null
	not azure_snp.tpm.pcr12 in registered
}

azure_snp_measurement_other if {
	azure_snp
	registered := query_reference_value("measurement")
	registered != null
	not azure_snp.measurement in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := query_reference_value("tcb_bootloader")
	registered != null
	not azure_snp.reported_tcb_bootloader in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := query_reference_value("tcb_microcode")
	registered != null
	not azure_snp.reported_tcb_microcode in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := query_reference_value("tcb_snp")
	registered != null
	not azure_snp.reported_tcb_snp in registered
}

azure_snp_tcb_other if {
	azure_snp
	registered := query_reference_value("tcb_tee")
	registered != null
	not azure_snp.reported_tcb_tee in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := query_reference_value("smt_enabled")
	registered != null
	not azure_snp.platform_smt_enabled in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := query_reference_value("tsme_enabled")
	registered != null
	not azure_snp.platform_tsme_enabled in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := query_reference_value("abi_major")
	registered != null
	not azure_snp.policy_abi_major in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := query_reference_value("abi_minor")
	registered != null
	not azure_snp.policy_abi_minor in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := query_reference_value("single_socket")
	registered != null
	not azure_snp.policy_single_socket in registered
}

azure_snp_setting_other if {
	azure_snp
	registered := query_reference_value("smt_allowed")
	registered != null
	not azure_snp.policy_smt_allowed in registered
}

executables := 3 if {
	azure_snp
	azure_snp.tpm.pcr03 in query_reference_value("snp_pcr03")
	azure_snp.tpm.pcr08 in query_reference_value("snp_pcr08")
	azure_snp.tpm.pcr09 in query_reference_value("snp_pcr09")
	azure_snp.tpm.pcr11 in query_reference_value("snp_pcr11")
	azure_snp.tpm.pcr12 in query_reference_value("snp_pcr12")
	not azure_snp_measurement_other
}

executables := 3 if {
	azure_snp
	azure_snp.measurement in query_reference_value("measurement")
	azure_snp.tpm.pcr11 in query_reference_value("snp_pcr11")
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
azure_tdx := input["az-tdx-vtpm"]

azure_tdx_pcr_other if {
	azure_tdx
	registered := query_reference_value("tdx_pcr03")
	registered != null
	not azure_tdx.tpm.pcr03 in registered
}

azure_tdx_pcr_other if {
	azure_tdx
	registered := query_reference_value("tdx_pcr08")
	registered != null
	not azure_tdx.tpm.pcr08 in registered
}

azure_tdx_pcr_other if {
	azure_tdx
	registered := query_reference_value("tdx_pcr09")
	registered != null
	not azure_tdx.tpm.pcr09 in registered
}

azure_tdx_pcr_other if {
	azure_tdx
	registered := query_reference_value("tdx_pcr12")
	registered != null
	not azure_tdx.tpm.pcr12 in registered
}

azure_tdx_module_other if {
	azure_tdx
	registered := query_reference_value("mr_td")
	registered != null
	not azure_tdx.quote.body.mr_td in registered
}

azure_tdx_module_other if {
	azure_tdx
	registered := query_reference_value("mr_seam")
	registered != null
	not azure_tdx.quote.body.mr_seam in registered
}

azure_tdx_module_other if {
	azure_tdx
	registered := query_reference_value("tcb_svn")
	registered != null
	not azure_tdx.quote.body.tcb_svn in registered
}

azure_tdx_setting_other if {
	azure_tdx
	registered := query_reference_value("xfam")
	registered != null
	not azure_tdx.quote.body.xfam in registered
}

executables := 3 if {
	azure_tdx
	azure_tdx.tpm.pcr11 in query_reference_value("tdx_pcr11")
	not azure_tdx_pcr_other
}

hardware := 2 if {
	azure_tdx.quote.header.tee_type == "81000000"
	azure_tdx.quote.header.vendor_id == "939a7233f79c4ca9940a0db3957f0607"
	not azure_tdx_module_other
	azure_tdx.tcb_status == "UpToDate"
}

configuration := 2 if {
	azure_tdx
	not azure_tdx.td_attributes.debug
	not azure_tdx_setting_other
}

# TPM
executables := 3 if {
	input.tpm
	input.tpm.pcr11 in query_reference_value("tpm_pcr11")
}

hardware := 2 if input.tpm

configuration := 0 if input.tpm

# IBM Secure Execution: claims exist only when the verifier found everything right.
executables := 3 if input.se

hardware := 2 if input.se

configuration := 2 if input.se

# Which containers the guest runs, as its own policy says.
containers := input.init_data_claims.agent_policy_claims.containers

container_images := {image |
	some container in containers
	image := container.OCI.Annotations["io.kubernetes.cri.image-name"]
}

container_uids := {uid |
	some container in containers
	uid := container.OCI.Process.User.UID
}

images_named := {"container_images": container_images} if count(container_images) > 0

uids_named := {"container_uids": container_uids} if count(container_uids) > 0

default images_named := {}

default uids_named := {}

extensions := [{
	"name": "ear.trustee.identifiers",
	"key": -18,
	"value": {"validated": object.union(images_named, uids_named)},
}]
