// Ask opens a saved policy and says of each file that standard input names, one a line,
// whether it may be changed.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"

	"umwelt"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: ask DATABASE < PATHS")
	}
	p := umwelt.Open(os.Args[1])
	if err := p.Err(); err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		s, err := p.Find("file", lines.Text())
		if err != nil {
			log.Fatal(err)
		}
		answer, err := p.Property(s, "editable")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(out, answer.Bool())
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
