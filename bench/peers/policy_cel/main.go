// Command policy_cel asks the rule of disruption/zones of cel-go, compiled once as an API server does with admission policies:
// for each question the JSON is decoded and the expression evaluated. It prints microseconds of processor time as JSON.
//
//	policy_cel QUESTION SECONDS
//
// QUESTION is a JSON list: what disruption.admit is given.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/google/cel-go/cel"
)

const rule = `peers.filter(p, p.name != unit.name && p.zone == unit.zone && (p.slotted || !p.ready)).size() ` +
	`< most`

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func fail(err error) {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"error": err.Error()})
	os.Exit(1)
}

func main() {
	runtime.GOMAXPROCS(1)
	env, err := cel.NewEnv(cel.Variable("unit", cel.DynType), cel.Variable("peers", cel.DynType), cel.Variable("most", cel.IntType))
	if err != nil {
		fail(err)
	}
	parsed, issues := env.Compile(rule)
	if issues.Err() != nil {
		fail(issues.Err())
	}
	program, err := env.Program(parsed, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		fail(err)
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		fail(err)
	}
	ask := func() bool {
		var question []any
		if err := json.Unmarshal([]byte(os.Args[1]), &question); err != nil {
			fail(err)
		}
		// A parameter with a type, as admission policies have it.
		labels := question[2].(map[string]any)["pool_labels"].(map[string]any)
		most, err := strconv.ParseInt(labels["windlass.dev/max-per-zone"].(string), 10, 64)
		if err != nil {
			fail(err)
		}
		said, _, err := program.Eval(map[string]any{"unit": question[0], "peers": question[1], "most": most})
		if err != nil {
			fail(err)
		}
		return said.Value().(bool)
	}
	answer := false
	for i := 0; i < 200; i++ {
		answer = ask()
	}
	begin, calls := processor(), 0
	for processor()-begin < time.Duration(seconds*float64(time.Second)) {
		for i := 0; i < 100; i++ {
			ask()
		}
		calls += 100
	}
	version := "cel-go"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/google/cel-go" {
				version += " " + m.Version
			}
		}
	}
	fmt.Printf("{\"us\":%.2f,\"calls\":%d,\"answer\":{\"admit\":%v},\"go\":%q,\"peer\":%q}\n",
		float64((processor()-begin).Nanoseconds())/1e3/float64(calls), calls, answer, runtime.Version(), version)
}
