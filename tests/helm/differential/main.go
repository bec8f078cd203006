// Command reference answers questions about what the reference engine renders, one JSON object per line.
//
//	{"kind":"template","files":{"x.yaml":"..."},"values":"yaml text"}   renders one chart with these templates
//	{"kind":"set","lines":["--set","a=b",...]}                          parses value flags
//	{"kind":"sort","files":{"x.yaml":"..."}}                            splits and sorts rendered files
//	{"kind":"schema","schema":"...","values":"yaml text"}               checks values against one schema
//	{"kind":"constraint","constraint":"...","version":"..."}            compares versions
//
// Each answer is {"out":"...","err":"..."}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

type question struct {
	Kind       string            `json:"kind"`
	Files      map[string]string `json:"files"`
	Values     string            `json:"values"`
	Lines      []string          `json:"lines"`
	Constraint string            `json:"constraint"`
	Version    string            `json:"version"`
	Strict     bool              `json:"strict"`
	Schema     string            `json:"schema"`
}

type answer struct {
	Out string `json:"out"`
	Err string `json:"err"`
}

func render(q question) (a answer) {
	values := map[string]interface{}{}
	if err := yaml.Unmarshal([]byte(q.Values), &values); err != nil {
		a.Err = err.Error()
		return
	}
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "c", Version: "1.2.3", AppVersion: "4.5", KubeVersion: ">=1.20.0-0",
		Keywords: []string{"k1", "k2"}, Maintainers: []*chart.Maintainer{{Name: "m", Email: "m@example.com"}}, Annotations: map[string]string{"a": "b"}},
		Files: []*chart.File{{Name: "conf/a.txt", Data: []byte("one\ntwo\n")}, {Name: "conf/b.txt", Data: []byte("b")}, {Name: "README.md", Data: []byte("# r")}}}
	names := []string{}
	for n := range q.Files {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		c.Templates = append(c.Templates, &chart.File{Name: "templates/" + n, Data: []byte(q.Files[n])})
	}
	caps := chartutil.DefaultCapabilities.Copy()
	kv, _ := chartutil.ParseKubeVersion("v1.36.0")
	caps.KubeVersion = *kv
	top, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "r", Namespace: "ns", Revision: 1, IsInstall: true}, caps)
	if err != nil {
		a.Err = err.Error()
		return
	}
	out, err := engine.Engine{Strict: q.Strict}.Render(c, top)
	if err != nil {
		a.Err = err.Error()
		return
	}
	keys := []string{}
	for k := range out {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for i, k := range keys {
		if len(keys) > 1 {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString("== " + k + "\n")
		}
		b.WriteString(out[k])
	}
	a.Out = b.String()
	return
}

func set(q question) (a answer) {
	base := map[string]interface{}{}
	if q.Values != "" {
		if err := yaml.Unmarshal([]byte(q.Values), &base); err != nil {
			a.Err = err.Error()
			return
		}
	}
	for i := 0; i+1 < len(q.Lines); i += 2 {
		var err error
		switch q.Lines[i] {
		case "--set":
			err = strvals.ParseInto(q.Lines[i+1], base)
		case "--set-string":
			err = strvals.ParseIntoString(q.Lines[i+1], base)
		case "--set-json":
			err = strvals.ParseJSON(q.Lines[i+1], base)
		case "--set-literal":
			err = strvals.ParseLiteralInto(q.Lines[i+1], base)
		}
		if err != nil {
			a.Err = err.Error()
			return
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%#v", base)
	a.Out = b.String()
	return
}

func sorted(q question) (a answer) {
	hooks, manifests, err := releaseutil.SortManifests(q.Files, nil, releaseutil.InstallOrder)
	if err != nil {
		a.Err = err.Error()
		return
	}
	var b strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	for _, h := range hooks {
		fmt.Fprintf(&b, "hook %s %s %s %v %d %v\n%s\n", h.Name, h.Kind, h.Path, h.Events, h.Weight, h.DeletePolicies, h.Manifest)
	}
	a.Out = b.String()
	return
}

func compare(q question) (a answer) {
	c, err := semver.NewConstraint(q.Constraint)
	if err != nil {
		a.Err = err.Error()
		return
	}
	v, err := semver.NewVersion(q.Version)
	if err != nil {
		a.Err = err.Error()
		return
	}
	a.Out = fmt.Sprintf("%s %v", v.String(), c.Check(v))
	return
}

func schema(q question) (a answer) {
	values := map[string]interface{}{}
	if err := yaml.Unmarshal([]byte(q.Values), &values); err != nil {
		a.Err = err.Error()
		return
	}
	if err := chartutil.ValidateAgainstSingleSchema(values, []byte(q.Schema)); err != nil {
		a.Err = err.Error()
	}
	return
}

func ask(q question) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{Err: fmt.Sprintf("panic: %v", r)}
		}
	}()
	switch q.Kind {
	case "template":
		return render(q)
	case "set":
		return set(q)
	case "sort":
		return sorted(q)
	case "schema":
		return schema(q)
	case "constraint":
		return compare(q)
	}
	return answer{Err: "unknown kind " + q.Kind}
}

func main() {
	log.SetOutput(io.Discard)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var q question
			if e := json.Unmarshal(line, &q); e != nil {
				enc.Encode(answer{Err: "bad question: " + e.Error()})
			} else {
				enc.Encode(ask(q))
			}
			out.Flush()
		}
		if err != nil {
			return
		}
	}
}
