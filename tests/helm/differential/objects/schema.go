package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

func init() {
	if err := apiextensions.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
}

// A table is what strategic merging has to know of every Go type that a built-in kind reaches.
type table struct {
	kinds  []kind
	order  []reflect.Type
	fields map[reflect.Type][]field
	names  map[reflect.Type]string
	taken  map[string]bool
}

type kind struct {
	groupVersion, kind string
	t                  reflect.Type
}

// A field that is an object, a map or a list: its text in the table, and the type it leads to.
type field struct {
	text string
	to   reflect.Type
}

func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// Fields as encoding/json sees them: those of embedded structs without a name belong to the outer one.
func fieldsOf(t reflect.Type, each func(name string, f reflect.StructField)) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && bare(f.Type).Kind() == reflect.Struct:
			fieldsOf(bare(f.Type), each)
		case name == "-" || f.PkgPath != "":
		case name == "":
			each(f.Name, f)
		default:
			each(name, f)
		}
	}
}

// note collects a type and all that it reaches; its fields in the order of Go.
func (s *table) note(t reflect.Type) {
	if _, known := s.fields[t]; known {
		return
	}
	s.fields[t] = nil
	s.order = append(s.order, t)
	fieldsOf(t, func(name string, f reflect.StructField) {
		if r, wanted := describe(name, f); wanted {
			s.fields[t] = append(s.fields[t], r)
			if r.to != nil {
				s.note(r.to)
			}
		}
	})
}

func describe(name string, f reflect.StructField) (r field, wanted bool) {
	strategy, key := f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")
	retain := ""
	if strings.Contains(strategy, "retainKeys") {
		retain = "^"
	}
	t := bare(f.Type)
	switch t.Kind() {
	case reflect.Struct:
		if strategy == "replace" {
			retain = "!"
		}
		return field{name + retain, t}, true
	case reflect.Map:
		return field{name + "%", nil}, true
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return r, false
		}
		if !strings.Contains(strategy, "merge") {
			return field{name + "[]", nil}, true
		}
		r.text = name + "[+" + key + "]" + retain
		if e := bare(t.Elem()); e.Kind() == reflect.Struct {
			r.to = e
		}
		return r, true
	}
	return r, false
}

// name gives types that nobody can tell apart one name, and others of the same Go name one with ticks.
func (s *table) name() {
	class := map[reflect.Type]string{}
	for _, t := range s.order {
		class[t] = t.Name()
	}
	for round := 0; round < 30; round++ {
		next := map[reflect.Type]string{}
		for _, t := range s.order {
			looks := t.Name() + " "
			for _, f := range s.fields[t] {
				looks += f.text
				if f.to != nil {
					looks += "=" + class[f.to]
				}
				looks += " "
			}
			sum := sha256.Sum256([]byte(looks))
			next[t] = hex.EncodeToString(sum[:])
		}
		class = next
	}
	byClass := map[string]string{}
	for _, t := range s.order {
		if name, known := byClass[class[t]]; known {
			s.names[t] = name
			continue
		}
		name := t.Name()
		if name == "" {
			name = "-"
		}
		for s.taken[name] {
			name += "'"
		}
		s.taken[name], byClass[class[t]], s.names[t] = true, name, name
	}
}

func (s *table) line(t reflect.Type) string {
	out := []string{s.names[t]}
	for _, f := range s.fields[t] {
		text := f.text
		if f.to != nil {
			text += "=" + s.names[f.to]
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// Groups and versions that no API server has served since 1.25.
func gone(group, version string) bool {
	return group == "extensions" || group == "apps" && version != "v1" || group == "imagepolicy.k8s.io"
}

func makeTable() *table {
	s := &table{names: map[reflect.Type]string{}, taken: map[string]bool{}, fields: map[reflect.Type][]field{}}
	meta := reflect.TypeOf(metav1.ObjectMeta{})
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		f, ok := t.FieldByName("ObjectMeta")
		if gvk.Version == "__internal" || gvk.Version == "" || gone(gvk.Group, gvk.Version) || !ok || f.Type != meta {
			continue
		}
		s.kinds = append(s.kinds, kind{strings.TrimPrefix(gvk.Group+"/"+gvk.Version, "/"), gvk.Kind, t})
	}
	sort.Slice(s.kinds, func(i, j int) bool {
		a, b := s.kinds[i], s.kinds[j]
		return a.groupVersion < b.groupVersion || a.groupVersion == b.groupVersion && a.kind < b.kind
	})
	for _, k := range s.kinds {
		s.note(k.t)
	}
	s.name()
	return s
}

// wrapped breaks a line at blanks; what goes on is indented.
func wrapped(out io.Writer, line string) {
	const width = 98
	for len(line) > width {
		at := strings.LastIndex(line[:width], " ")
		fmt.Fprintln(out, line[:at])
		line = "  " + line[at+1:]
	}
	fmt.Fprintln(out, line)
}

// printSchema writes the two tables of k8s/merge/merge_schema_table.cpp: which type a kind has, and what a type's fields are.
func printSchema(out io.Writer) {
	s := makeTable()
	line, last := "", ""
	for _, k := range s.kinds {
		if k.groupVersion != last {
			if line != "" {
				wrapped(out, line)
			}
			line, last = k.groupVersion, k.groupVersion
		}
		line += " " + k.kind
		if name := s.names[k.t]; name != k.kind {
			line += "=" + name
		}
	}
	wrapped(out, line)
	fmt.Fprintln(out)
	var lines []string
	seen := map[string]bool{}
	for _, t := range s.order {
		if l := s.line(t); !seen[l] {
			lines, seen[l] = append(lines, l), true
		}
	}
	sort.Strings(lines)
	for _, l := range lines {
		wrapped(out, l)
	}
}
