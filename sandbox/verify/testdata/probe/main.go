// Command probe is the probe alone, without cgo, for tests of packages that may have it.
package main

import "umwelt/sandbox/verify/probe"

func main() { probe.Main() }
