// Command policy asks a policy pack the way Argo CD runs its health and action scripts: for each question a fresh gopher-lua
// state, the object decoded into it, the script run, the answer encoded. It prints microseconds of processor time as JSON.
//
//	policy POLICY.lua QUESTION SECONDS
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

	lua "github.com/yuin/gopher-lua"
)

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

// decode is what Argo CD's vendored gopher-json does.
func decode(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for _, one := range v {
			t.Append(decode(l, one))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		for key, one := range v {
			t.RawSetH(lua.LString(key), decode(l, one))
		}
		return t
	}
	return lua.LNil
}

func encode(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LBool:
		return bool(v)
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		return string(v)
	case *lua.LTable:
		out := map[string]any{}
		v.ForEach(func(key, one lua.LValue) { out[key.String()] = encode(one) })
		return out
	}
	return nil
}

func ask(source string, question []any) (any, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable},
		{lua.StringLibName, lua.OpenString}, {lua.MathLibName, lua.OpenMath}} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(lib.open), NRet: 0, Protect: true}, lua.LString(lib.name)); err != nil {
			return nil, err
		}
	}
	// The pack's only other file, which says nothing.
	l.PreloadModule("zones", func(l *lua.LState) int {
		l.Push(l.NewTable())
		return 1
	})
	if err := l.DoString(source); err != nil {
		return nil, err
	}
	pack := l.Get(-1)
	admit := l.GetField(l.GetField(pack, "disruption"), "admit")
	arguments := make([]lua.LValue, 0, len(question))
	for _, one := range question {
		arguments = append(arguments, decode(l, one))
	}
	if err := l.CallByParam(lua.P{Fn: admit, NRet: 1, Protect: true}, arguments...); err != nil {
		return nil, err
	}
	answer, err := json.Marshal(encode(l.Get(-1)))
	return string(answer), err
}

func main() {
	runtime.GOMAXPROCS(1)
	source, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	var question []any
	if err := json.Unmarshal([]byte(os.Args[2]), &question); err != nil {
		fail(err)
	}
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil {
		fail(err)
	}
	var answer any
	for i := 0; i < 200; i++ {
		if answer, err = ask(string(source), question); err != nil {
			fail(err)
		}
	}
	begin, calls := processor(), 0
	for processor()-begin < time.Duration(seconds*float64(time.Second)) {
		for i := 0; i < 100; i++ {
			_, _ = ask(string(source), question)
		}
		calls += 100
	}
	version := "gopher-lua"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/yuin/gopher-lua" {
				version += " " + m.Version
			}
		}
	}
	fmt.Printf("{\"us\":%.2f,\"calls\":%d,\"answer\":%s,\"go\":%q,\"peer\":%q}\n",
		float64((processor()-begin).Nanoseconds())/1e3/float64(calls), calls, answer, runtime.Version(), version)
}
