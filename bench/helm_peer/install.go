package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/registry"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// One release in a namespace of its own, as an operator around Helm's action package makes it.
func installOne(server, cache string, c *chart.Chart, name string) error {
	flags := genericclioptions.NewConfigFlags(false)
	namespace, nowhere := name, os.DevNull
	flags.APIServer, flags.Namespace, flags.CacheDir, flags.KubeConfig = &server, &namespace, &cache, &nowhere
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1 // nothing holds it back but the server
		return config
	}
	var with action.Configuration
	if err := with.Init(flags, namespace, "secret", func(string, ...interface{}) {}); err != nil {
		return err
	}
	client, err := registry.NewClient(registry.ClientOptWriter(io.Discard))
	if err != nil {
		return err
	}
	with.RegistryClient = client
	install := action.NewInstall(&with)
	install.ReleaseName, install.Namespace, install.CreateNamespace = "tenant-"+name+"-c0", namespace, true
	install.Wait, install.Timeout = true, 3*time.Minute
	_, err = install.Run(c, map[string]interface{}{})
	return err
}

// install SERVER ARCHIVE COUNT WORKERS: so many releases of the chart, and what they took.
func installMany(server, archive string, count, workers int) (map[string]interface{}, error) {
	runtime.GOMAXPROCS(1)
	answer, err := http.Get(archive)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	c, err := loader.LoadArchive(answer.Body)
	if err != nil {
		return nil, err
	}
	cache, err := os.MkdirTemp("", "windlass-peer-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(cache)
	began := time.Now()
	names, failures := make(chan string), make(chan error, workers)
	var all sync.WaitGroup
	for i := 0; i < workers; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			var failed error
			for name := range names {
				if err := installOne(server, cache, c, name); err != nil && failed == nil {
					failed = fmt.Errorf("%s: %w", name, err)
				}
			}
			if failed != nil {
				failures <- failed
			}
		}()
	}
	for i := 0; i < count; i++ {
		names <- "t-" + strconv.Itoa(i)
	}
	close(names)
	all.Wait()
	close(failures)
	if err, failed := <-failures; failed {
		return nil, err
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return nil, err
	}
	return map[string]interface{}{"seconds": time.Since(began).Seconds(), "rss_mb": float64(used.Maxrss) * 1024 / 1e6}, nil
}

func installMain(words []string) {
	result, err := map[string]interface{}{}, fmt.Errorf("usage: helm_peer install SERVER ARCHIVE COUNT WORKERS")
	if len(words) == 4 {
		var count, workers int
		if count, err = strconv.Atoi(words[2]); err == nil {
			if workers, err = strconv.Atoi(words[3]); err == nil {
				result, err = installMany(words[0], words[1], count, workers)
			}
		}
	}
	if err != nil {
		result = map[string]interface{}{"error": strings.TrimSpace(err.Error())}
	}
	json.NewEncoder(os.Stdout).Encode(result)
}
