# What the evidence of a GPU is worth.
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

result := {
	"executables": executables,
	"hardware": hardware,
	"configuration": configuration,
	"file-system": file_system,
	"instance-identity": instance_identity,
	"runtime-opaque": runtime_opaque,
	"storage-opaque": storage_opaque,
	"sourced-data": sourced_data,
}

# NVIDIA
hardware := 2 if {
	input.nvidia["x-nvidia-gpu-attestation-report-cert-chain"]["x-nvidia-cert-ocsp-status"] == "good"
	input.nvidia["x-nvidia-gpu-attestation-report-cert-chain"]["x-nvidia-cert-status"] == "valid"
	input.nvidia["x-nvidia-gpu-attestation-report-cert-chain-fwid-match"] == true
	input.nvidia["x-nvidia-gpu-attestation-report-parsed"] == true
	input.nvidia["x-nvidia-gpu-attestation-report-signature-verified"] == true
	input.nvidia["x-nvidia-gpu-arch-check"] == true
}

nvidia_closed if {
	input.nvidia.secboot == true
	input.nvidia.dbgstat == "disabled"
}

nvidia_versions_known if {
	input.nvidia["x-nvidia-gpu-vbios-version"] in query_reference_value("allowed_vbios_versions")
	input.nvidia["x-nvidia-gpu-driver-version"] in query_reference_value("allowed_driver_versions")
}

configuration := 2 if {
	nvidia_closed
	nvidia_versions_known
}

configuration := 3 if {
	nvidia_closed
	not nvidia_versions_known
}

executables := 3 if {
	input.nvidia["x-nvidia-gpu-vbios-rim-cert-chain"]["x-nvidia-cert-ocsp-status"] == "good"
	input.nvidia["x-nvidia-gpu-vbios-rim-cert-chain"]["x-nvidia-cert-status"] == "valid"
	input.nvidia["x-nvidia-gpu-driver-rim-fetched"] == true
	input.nvidia["x-nvidia-gpu-driver-rim-measurements-available"] == true
	input.nvidia["x-nvidia-gpu-driver-rim-schema-validated"] == true
	input.nvidia["x-nvidia-gpu-driver-rim-signature-verified"] == true
	input.nvidia["x-nvidia-gpu-driver-rim-version-match"] == true
	input.nvidia["x-nvidia-gpu-vbios-rim-fetched"] == true
	input.nvidia["x-nvidia-gpu-vbios-rim-measurements-available"] == true
	input.nvidia["x-nvidia-gpu-vbios-rim-schema-validated"] == true
	input.nvidia["x-nvidia-gpu-vbios-rim-signature-verified"] == true
	input.nvidia["x-nvidia-gpu-vbios-rim-version-match"] == true
	input.nvidia.measres == "success"
}

# Sample device, for trials.
hardware := 2 if {
	input.sampledevice.svn in query_reference_value("device_svn")
}
