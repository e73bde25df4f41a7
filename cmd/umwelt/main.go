// Command umwelt says what an actor may see, change, call and trigger, proves it, and
// compiles it to what enforcement tools read.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"umwelt/diag"
	"umwelt/sandbox/runner"
	"umwelt/sandbox/verify/probe"
)

// The exit statuses. They are part of the interface.
const (
	exitOK       = 0
	exitFindings = 1 // findings, denials or differences
	exitUnusable = 2 // unusable input or arguments
	exitMissing  = 3 // a needed outside program, or a part of the system, is missing
)

func main() {
	runner.Main() // this program is also what runs first inside of a sandbox
	probe.Main()  // and what tries things in one
	rest()
	os.Exit(run(os.Args[1:], osStreams()))
}

// run is the whole program for one command line. It gives the exit status and lets no
// panic through: whatever fails, fails closed and with a line that can be reported.
func run(args []string, std *streams) (status int) {
	defer func() {
		if v := recover(); v != nil {
			std.stopProgress()
			fmt.Fprintf(std.err, "umwelt: internal error: %s\n  hint: this is a fault of umwelt itself; nothing was granted and no output is to be trusted\n", diag.Escape(fmt.Sprint(v)))
			status = exitUnusable
		}
	}()
	root := newRoot(std)
	root.SetArgs(args)
	if len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // completion reads its words twice
		takeOnce(root)
	}
	command, err := root.ExecuteC()
	std.stopProgress()
	var problems *problemsError
	var findings findingsError
	var other statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &findings):
		if findings.text != "" {
			fmt.Fprintf(std.err, "umwelt: %s\n", findings.text)
		}
		return exitFindings
	case errors.As(err, &problems):
		std.render(problems.list)
		return exitUnusable
	case errors.As(err, &other):
		if other.text != "" {
			fmt.Fprintf(std.err, "umwelt: %s\n", other.text)
		}
		return other.status
	}
	std.render(diag.List{usage(command, err)})
	return exitUnusable
}

// problemsError is unusable input, with everything that is wrong with it.
type problemsError struct{ list diag.List }

func (e *problemsError) Error() string { return e.list.Err().Error() }

// problem is a problemsError of one error.
func problem(code diag.Code, hint, format string, args ...any) error {
	return &problemsError{diag.List{{Severity: diag.Error, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}}}
}

// findingsError says that the command did its work and found something. Where text is
// not empty it is said on standard error.
type findingsError struct{ text string }

func (e findingsError) Error() string { return e.text }

// statusError asks for an exit status. Where text is not empty it is said on standard
// error.
type statusError struct {
	status int
	text   string
}

func (e statusError) Error() string { return e.text }

// oneOf reports a flag's value that is not among those it takes.
func oneOf(flag, value string, values ...string) error {
	for _, v := range values {
		if v == value {
			return nil
		}
	}
	return problem(diag.BadOption, hint(value, values), "--%s takes %s, not %s", flag, strings.Join(values, ", "), diag.Quote(value))
}

// hint is "did you mean", or the whole list where nothing is near.
func hint(word string, candidates []string) string {
	if s := diag.DidYouMean(word, candidates); s != "" {
		return s
	}
	return "there is " + strings.Join(candidates, ", ")
}
