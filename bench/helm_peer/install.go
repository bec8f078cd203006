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

// Helm's action package for a release in a namespace of its own, as an operator around it has it.
func configured(server, cache, namespace string) (*action.Configuration, error) {
	flags := genericclioptions.NewConfigFlags(false)
	nowhere := os.DevNull
	flags.APIServer, flags.Namespace, flags.CacheDir, flags.KubeConfig = &server, &namespace, &cache, &nowhere
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1 // nothing holds it back but the server
		return config
	}
	with := new(action.Configuration)
	if err := with.Init(flags, namespace, "secret", func(string, ...interface{}) {}); err != nil {
		return nil, err
	}
	client, err := registry.NewClient(registry.ClientOptWriter(io.Discard))
	if err != nil {
		return nil, err
	}
	with.RegistryClient = client
	return with, nil
}

func installOne(with *action.Configuration, c *chart.Chart, name string) error {
	install := action.NewInstall(with)
	install.ReleaseName, install.Namespace, install.CreateNamespace = "tenant-"+name+"-c0", name, true
	install.Wait, install.Timeout = true, 3*time.Minute
	_, err := install.Run(c, map[string]interface{}{})
	return err
}

func upgradeOne(with *action.Configuration, c *chart.Chart, name string) error {
	upgrade := action.NewUpgrade(with)
	upgrade.Namespace, upgrade.Wait, upgrade.Timeout = name, true, 3*time.Minute
	_, err := upgrade.Run("tenant-"+name+"-c0", c, map[string]interface{}{})
	return err
}

// VERB SERVER ARCHIVE COUNT WORKERS: so many releases of the chart, and what they took.
func doMany(verb, server, archive string, count, workers int) (map[string]interface{}, error) {
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
				with, err := configured(server, cache, name)
				if err == nil && verb == "upgrade" {
					err = upgradeOne(with, c, name)
				} else if err == nil {
					err = installOne(with, c, name)
				}
				if err != nil && failed == nil {
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

func manyMain(verb string, words []string) {
	result, err := map[string]interface{}{}, fmt.Errorf("usage: helm_peer install|upgrade SERVER ARCHIVE COUNT WORKERS")
	if len(words) == 4 {
		var count, workers int
		if count, err = strconv.Atoi(words[2]); err == nil {
			if workers, err = strconv.Atoi(words[3]); err == nil {
				result, err = doMany(verb, words[0], words[1], count, workers)
			}
		}
	}
	if err != nil {
		result = map[string]interface{}{"error": strings.TrimSpace(err.Error())}
	}
	json.NewEncoder(os.Stdout).Encode(result)
}
