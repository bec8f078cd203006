// Reads cases, one JSON object a line: {"name", "file", "query", "input", "data", "values", "expect"}. `values` is what
// query_reference_value gives, `data` what lies under data. Prints one line a case: "ok NAME" or "FAIL NAME: why".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/types"
)

type testCase struct {
	Name, File, Query string
	Input, Expect     any
	Data, Values      map[string]any
}

func run(c testCase) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	if _, err := ast.ParseModuleWithOpts(c.File, string(text), ast.ParserOptions{RegoVersion: ast.RegoV1}); err != nil {
		return err
	}
	data := c.Data
	if data == nil {
		data = map[string]any{}
	}
	lookup := rego.Function1(&rego.Function{Name: "query_reference_value", Decl: types.NewFunction(types.Args(types.S), types.A)},
		func(_ rego.BuiltinContext, name *ast.Term) (*ast.Term, error) {
			key, _ := name.Value.(ast.String)
			v, there := c.Values[string(key)]
			if !there { // as Trustee's own function answers
				return ast.NullTerm(), nil
			}
			value, err := ast.InterfaceToValue(v)
			return ast.NewTerm(value), err
		})
	result, err := rego.New(rego.Query(c.Query), rego.Module(c.File, string(text)), rego.Input(c.Input), rego.SetRegoVersion(ast.RegoV1),
		rego.Store(inmem.NewFromObject(data)), lookup).Eval(context.Background())
	if err != nil {
		return err
	}
	var found any
	if len(result) > 0 {
		found = result[0].Expressions[0].Value
	}
	// Both through JSON, so that numbers compare.
	a, _ := json.Marshal(found)
	b, _ := json.Marshal(c.Expect)
	var x, y any
	_ = json.Unmarshal(a, &x)
	_ = json.Unmarshal(b, &y)
	if !reflect.DeepEqual(x, y) {
		return fmt.Errorf("%s is %s, expected %s", c.Query, a, b)
	}
	return nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		if err := run(c); err != nil {
			fmt.Printf("FAIL %s: %q\n", c.Name, err.Error())
		} else {
			fmt.Println("ok", c.Name)
		}
	}
}
