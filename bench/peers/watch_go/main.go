// Command watch_go follows collections the way Go's clients do, and prints what that took as one JSON object.
//
//	watch_go events CLIENT COLLECTION CLUSTERS EVENTS URL CA_FILE
//	watch_go fleet  CLIENT COLLECTION CLUSTERS OBJECTS URL CA_FILE
//	watch_go encode typed|metadata COLLECTION
//
// CLIENT is typed, dynamic, metadata (client-go's informers) or cache (controller-runtime's), then -json or -protobuf; COLLECTION is
// pods or nodes. Cluster 3 is served at URL/c3. `events` ends after so many updates; `fleet` prints once every cluster has synced and
// stays until it is killed. `encode` reads one JSON object a line and writes each as protobuf behind its length.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func fail(err error) {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"error": err.Error()})
	os.Exit(1)
}

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The clock of the server's stamps, in microseconds.
func clock() int64 {
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(ptr(&t)), 0)
	return t.Sec*1_000_000 + t.Nsec/1_000
}

// A resourceVersion of the server is this and the clock's microseconds when the event was written.
const epoch = 1_000_000_000_000_000

type tally struct {
	sync.Mutex
	events, warm, want int
	objects            int
	cpu, cpuEnd        time.Duration
	wall, wallEnd      time.Time
	late               []int64
	done               chan struct{}
}

func (t *tally) added(any) {
	t.Lock()
	t.objects++
	t.Unlock()
}

func (t *tally) updated(_, object any) {
	at, err := meta.Accessor(object)
	if err != nil {
		fail(err)
	}
	version, err := strconv.ParseInt(at.GetResourceVersion(), 10, 64)
	if err != nil {
		fail(err)
	}
	late := clock() - (version - epoch)
	t.Lock()
	defer t.Unlock()
	t.events++
	if t.events == t.warm {
		t.cpu, t.wall = processor(), time.Now()
	}
	if t.events > t.warm && t.events <= t.want {
		t.late = append(t.late, late)
	}
	if t.events == t.want {
		t.cpuEnd, t.wallEnd = processor(), time.Now()
		close(t.done)
	}
}

func (t *tally) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: t.added, UpdateFunc: t.updated}
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "unknown"
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		fail(err)
	}
	return n
}

func main() {
	began := time.Now()
	if len(os.Args) == 4 && os.Args[1] == "encode" {
		encode(os.Args[2], os.Args[3])
		return
	}
	if len(os.Args) != 8 {
		fail(fmt.Errorf("seven arguments are wanted"))
	}
	measure, collection, url, authority := os.Args[1], os.Args[3], os.Args[6], os.Args[7]
	client, encoding, _ := strings.Cut(os.Args[2], "-")
	clusters, count := number(os.Args[4]), number(os.Args[5])
	t := &tally{want: count, warm: count / 10, done: make(chan struct{}), late: make([]int64, 0, count)}
	ctx := context.Background()
	var synced []cache.InformerSynced
	for i := 0; i < clusters; i++ {
		config := &rest.Config{Host: url + "/c" + strconv.Itoa(i), QPS: -1,
			TLSClientConfig: rest.TLSClientConfig{CAFile: authority}}
		config.ContentType = "application/json"
		if encoding == "protobuf" {
			config.ContentType = "application/vnd.kubernetes.protobuf"
			config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		}
		is, err := follow(ctx, client, collection, config, t)
		if err != nil {
			fail(err)
		}
		synced = append(synced, is)
	}
	out := map[string]any{"encoding": encoding, "runtime": runtime.Version(), "version": "client-go " + version("k8s.io/client-go")}
	out["client"] = "client-go " + client
	if client == "cache" {
		out["client"] = "controller-runtime"
		out["version"] = "controller-runtime " + version("sigs.k8s.io/controller-runtime") + ", " + out["version"].(string)
	}
	if measure == "fleet" {
		for _, is := range synced {
			for !is() {
				time.Sleep(2 * time.Millisecond)
			}
		}
		out["synced_s"] = time.Since(began).Seconds()
		out["sync_cpu_s"] = processor().Seconds()
		time.Sleep(time.Second) // what listing left behind ends
		debug.FreeOSMemory()
		t.Lock()
		out["objects"] = t.objects
		t.Unlock()
		_ = json.NewEncoder(os.Stdout).Encode(out)
		select {}
	}
	<-t.done
	n := float64(t.want - t.warm)
	out["cpu_us_per_event"] = float64((t.cpuEnd - t.cpu).Nanoseconds()) / 1e3 / n
	out["wall_us_per_event"] = float64(t.wallEnd.Sub(t.wall).Nanoseconds()) / 1e3 / n
	sort.Slice(t.late, func(a, b int) bool { return t.late[a] < t.late[b] })
	for name, share := range map[string]float64{"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999} {
		out[name] = t.late[int(share*float64(len(t.late)-1))]
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}
