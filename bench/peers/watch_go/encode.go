package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Writes each object as its bare protobuf message, without the envelope, behind its length.
func encode(how, collection string) {
	var as interface {
		Reset()
		Marshal() ([]byte, error)
	}
	switch {
	case how == "metadata":
		as = &metav1.PartialObjectMetadata{}
	case collection == "pods":
		as = &corev1.Pod{}
	case collection == "nodes":
		as = &corev1.Node{}
	default:
		fail(fmt.Errorf("%s: pods and nodes are known", collection))
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	to := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		as.Reset()
		if err := json.Unmarshal(in.Bytes(), as); err != nil {
			fail(err)
		}
		bytes, err := as.Marshal()
		if err != nil {
			fail(err)
		}
		if err := binary.Write(to, binary.BigEndian, uint32(len(bytes))); err != nil {
			fail(err)
		}
		if _, err := to.Write(bytes); err != nil {
			fail(err)
		}
	}
	if err := in.Err(); err != nil {
		fail(err)
	}
	if err := to.Flush(); err != nil {
		fail(err)
	}
}
