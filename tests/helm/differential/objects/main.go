// Command objects answers what apimachinery makes of three states of an object, one JSON object per line.
//
//	{"kind":"strategic","type":"apps/v1 Deployment","before":{},"after":{},"live":{}}   the patch, and the live object with it
//	{"kind":"json","before":{},"after":{},"live":{}}                                    the JSON merge patches
//
// Each answer is {"out":"...","err":"..."}. `objects schema` prints the tables of k8s/merge/merge_schema_table.cpp instead.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

type question struct {
	Kind   string          `json:"kind"`
	Type   string          `json:"type"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	Live   json.RawMessage `json:"live"`
}

type answer struct {
	Out string `json:"out"`
	Err string `json:"err"`
}

func strategic(q question) (string, error) {
	groupVersion, kind, _ := strings.Cut(q.Type, " ")
	gv, err := schema.ParseGroupVersion(groupVersion)
	if err != nil {
		return "", err
	}
	object, err := scheme.Scheme.New(gv.WithKind(kind))
	if err != nil {
		return "", err
	}
	lookup, err := strategicpatch.NewPatchMetaFromStruct(object)
	if err != nil {
		return "", err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(q.Before, q.After, q.Live, lookup, true)
	if err != nil {
		return "", err
	}
	applied, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(q.Live, patch, lookup)
	if err != nil {
		return string(patch), fmt.Errorf("apply: %w", err)
	}
	return fmt.Sprintf(`{"applied":%s,"patch":%s}`, applied, patch), nil
}

func merges(q question) (string, error) {
	two, err := jsonpatch.CreateMergePatch(q.Before, q.After)
	if err != nil {
		return "", err
	}
	three, err := jsonmergepatch.CreateThreeWayJSONMergePatch(q.Before, q.After, q.Live)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`{"three":%s,"two":%s}`, three, two), nil
}

func reply(q question) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Out: "died", Err: "died"}
		}
	}()
	var err error
	if q.Kind == "strategic" {
		a.Out, err = strategic(q)
	} else {
		a.Out, err = merges(q)
	}
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "schema" {
		printSchema(os.Stdout)
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(reply(q)); err != nil {
			log.Fatal(err)
		}
	}
}
