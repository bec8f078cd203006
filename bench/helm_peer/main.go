// Command helm_peer does with Helm's own packages what `windlass-bench helm` measures, and prints its figures as JSON.
//
//	helm_peer CHART SECONDS
//	helm_peer install|upgrade SERVER ARCHIVE COUNT WORKERS
//
// The second one does what `windlass-bench tenants` and `windlass-bench charts` measure; an upgrade is of what an install made. Processor time of the whole process is what counts, so that the collector is paid for; one thread runs Go code.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// One render for a release: values, schema and templates of a chart in memory.
func render(c *chart.Chart) (files map[string]string, err error) {
	values := map[string]interface{}{}
	if err = chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return
	}
	caps := chartutil.DefaultCapabilities.Copy()
	kube, err := chartutil.ParseKubeVersion("v1.31.0")
	if err != nil {
		return
	}
	caps.KubeVersion = *kube
	options := chartutil.ReleaseOptions{Name: "bench", Namespace: "default", Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValues(c, values, options, caps)
	if err != nil {
		return
	}
	return engine.Render(c, top)
}

// Milliseconds of processor time per call, over at least `limit` of it.
func measure(limit time.Duration, f func() error) (float64, error) {
	if err := f(); err != nil {
		return 0, err
	}
	runtime.GC()
	start, calls := processor(), 0
	for processor()-start < limit || calls < 3 {
		if err := f(); err != nil {
			return 0, err
		}
		calls++
	}
	return float64(processor()-start) / 1e6 / float64(calls), nil
}

func version(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, d := range info.Deps {
		if d.Path == path {
			return d.Version
		}
	}
	return ""
}

func main() {
	log.SetOutput(io.Discard)
	if len(os.Args) > 1 && (os.Args[1] == "install" || os.Args[1] == "upgrade") {
		manyMain(os.Args[1], os.Args[2:])
		return
	}
	runtime.GOMAXPROCS(1)
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: helm_peer CHART SECONDS")
		os.Exit(2)
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	limit := time.Duration(seconds * float64(time.Second))
	result := map[string]interface{}{"go": runtime.Version(), "helm": version("helm.sh/helm/v3")}
	fail := func(err error) {
		result["error"] = err.Error()
		json.NewEncoder(os.Stdout).Encode(result)
		os.Exit(0)
	}
	load := func() (*chart.Chart, error) { return loader.Load(os.Args[1]) }
	c, err := load()
	if err != nil {
		fail(err)
	}
	var files map[string]string
	if result["warm_ms"], err = measure(limit, func() (err error) {
		files, err = render(c)
		return
	}); err != nil {
		fail(err)
	}
	if result["cold_ms"], err = measure(limit, func() error {
		fresh, err := load()
		if err == nil {
			_, err = render(fresh)
		}
		return err
	}); err != nil {
		fail(err)
	}
	bytes := 0
	for name, text := range files {
		bytes += len(text)
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	objects := 0
	if result["sort_ms"], err = measure(limit, func() error {
		hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
		objects = len(hooks) + len(manifests)
		return err
	}); err != nil {
		fail(err)
	}
	result["objects"], result["bytes"] = objects, bytes
	json.NewEncoder(os.Stdout).Encode(result)
}
