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
	input.sample.launch_digest in query_reference_value("launch_digest")
}

hardware := 2 if {
	input.sample.svn in query_reference_value("svn")
	input.sample.platform_version.major == query_reference_value("major_version")
	input.sample.platform_version.minor >= query_reference_value("minimum_minor_version")
}

configuration := 2 if {
	input.sample.debug == false
}

# AMD SEV-SNP
executables := 3 if {
	input.snp.measurement in query_reference_value("snp_launch_measurement")
}

hardware := 2 if {
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
	input.tdx.quote.body.rtmr_1 in query_reference_value("rtmr_1")
	input.tdx.quote.body.rtmr_2 in query_reference_value("rtmr_2")
}

tdx_kernel_known if {
	some event in input.tdx.uefi_event_logs
	event.type_name == "EV_EFI_BOOT_SERVICES_APPLICATION"
	"File(kernel)" in event.details.device_paths
	some digest in event.digests
	digest.digest in query_reference_value("tdvfkernel")
}

tdx_parameters_known if {
	some event in input.tdx.uefi_event_logs
	event.type_name == "EV_EVENT_TAG"
	event.details.string == "LOADED_IMAGE::LoadOptions"
	some digest in event.digests
	digest.digest in query_reference_value("tdvfkernelparams")
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

hardware := 2 if {
	input.tdx.quote.header.tee_type == "81000000"
	input.tdx.quote.header.vendor_id == "939a7233f79c4ca9940a0db3957f0607"
	input.tdx.quote.body.mr_td in query_reference_value("mr_td")
	input.tdx.tcb_status == "UpToDate"
	input.tdx.collateral_expiration_status == "0"
}

configuration := 2 if {
	input.tdx.td_attributes.debug == false
	input.tdx.quote.body.xfam in query_reference_value("xfam")
}

# Azure's vTPMs
executables := 3 if {
	input["az_snp_vtpm"].tpm.pcr03 in query_reference_value("snp_pcr03")
	input["az_snp_vtpm"].tpm.pcr08 in query_reference_value("snp_pcr08")
	input["az_snp_vtpm"].tpm.pcr09 in query_reference_value("snp_pcr09")
	input["az_snp_vtpm"].tpm.pcr11 in query_reference_value("snp_pcr11")
	input["az_snp_vtpm"].tpm.pcr12 in query_reference_value("snp_pcr12")
}

hardware := 2 if {
	input["az_snp_vtpm"]
}

configuration := 2 if {
	input["az_snp_vtpm"]
}

executables := 3 if {
	input["az_tdx_vtpm"].tpm.pcr03 in query_reference_value("tdx_pcr03")
	input["az_tdx_vtpm"].tpm.pcr08 in query_reference_value("tdx_pcr08")
	input["az_tdx_vtpm"].tpm.pcr09 in query_reference_value("tdx_pcr09")
	input["az_tdx_vtpm"].tpm.pcr11 in query_reference_value("tdx_pcr11")
	input["az_tdx_vtpm"].tpm.pcr12 in query_reference_value("tdx_pcr12")
}

hardware := 2 if {
	input["az_tdx_vtpm"].quote.header.tee_type == "81000000"
	input["az_tdx_vtpm"].quote.header.vendor_id == "939a7233f79c4ca9940a0db3957f0607"
	input["az_tdx_vtpm"].tcb_status == "UpToDate"
}

configuration := 2 if {
	input["az_tdx_vtpm"]
}

# TPM
executables := 3 if {
	input.tpm.pcr11 in query_reference_value("tpm_pcr11")
}

hardware := 2 if {
	input.tpm
}

configuration := 0 if {
	input.tpm
}

# IBM Secure Execution
executables := 3 if {
	input.se
}

hardware := 2 if {
	input.se
}

configuration := 2 if {
	input.se
}

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
