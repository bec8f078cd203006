module github.com/confidential-containers/cloud-api-adaptor/src/cloud-api-adaptor

go 1.24.9

require (
	github.com/kata-containers/kata-containers/src/runtime v0.0.0-20251117210945-650ada7bcc8e
)
