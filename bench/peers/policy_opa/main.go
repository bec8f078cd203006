// Command policy_opa asks the rule of disruption/zones of Open Policy Agent, prepared once as its server and Gatekeeper do: for
// each question the JSON is decoded, the rule evaluated and the answer encoded. It prints microseconds of processor time as JSON.
//
//	policy_opa QUESTION SECONDS
//
// QUESTION is a JSON list: what disruption.admit is given.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"
)

const rule = `package windlass

default answer := {"admit": false, "code": "ZoneLimitUnknown"}

most := to_number(input[2].pool_labels["windlass.dev/max-per-zone"])

disturbed(p) if p.slotted
disturbed(p) if not p.ready

busy := [p.name | some p in input[1]; p.name != input[0].name; p.zone == input[0].zone; disturbed(p)]

answer := {"admit": true} if count(busy) < most

answer := {"admit": false, "code": "ZoneBusy", "reason": sprintf("zone '%s' has %d of at most %d disturbed: %s", [input[0].zone, count(busy), most, concat(", ", busy)])} if count(busy) >= most
`

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
	ctx := context.Background()
	prepared, err := rego.New(rego.Query("data.windlass.answer"), rego.Module("zones.rego", rule)).PrepareForEval(ctx)
	if err != nil {
		fail(err)
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		fail(err)
	}
	ask := func() string {
		var question any
		if err := json.Unmarshal([]byte(os.Args[1]), &question); err != nil {
			fail(err)
		}
		found, err := prepared.Eval(ctx, rego.EvalInput(question))
		if err != nil {
			fail(err)
		}
		if len(found) != 1 || len(found[0].Expressions) != 1 {
			fail(fmt.Errorf("no answer"))
		}
		answer, err := json.Marshal(found[0].Expressions[0].Value)
		if err != nil {
			fail(err)
		}
		return string(answer)
	}
	answer := ""
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
	version := "opa"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/open-policy-agent/opa" {
				version += " " + m.Version
			}
		}
	}
	fmt.Printf("{\"us\":%.2f,\"calls\":%d,\"answer\":%s,\"go\":%q,\"peer\":%q}\n",
		float64((processor()-begin).Nanoseconds())/1e3/float64(calls), calls, answer, runtime.Version(), version)
}
