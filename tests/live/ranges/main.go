// What Masterminds/semver says of ranges: lines "range\tversion\t…" in, "plain\tincluding" out, where each is holds, fails or
// wrong; including: with pre-releases compared as well.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/Masterminds/semver/v3"
)

func verdict(c *semver.Constraints, v *semver.Version) string {
	if c.Check(v) {
		return "holds"
	}
	return "fails"
}

func main() {
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		cells := strings.Split(in.Text(), "\t")
		c, err := semver.NewConstraint(cells[0])
		v, bad := semver.NewVersion(cells[1])
		if err != nil || bad != nil {
			fmt.Fprintln(out, "wrong\twrong")
			continue
		}
		plain := verdict(c, v)
		c.IncludePrerelease = true
		fmt.Fprintln(out, plain+"\t"+verdict(c, v))
	}
}
