package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/record"
	"umwelt/sandbox/runner"
)

// observeFlags are the flags of observe.
type observeFlags struct {
	output, keepLog string
	context         []string
	force           bool
}

func observeCommand(std *streams) *cobra.Command {
	var f observeFlags
	c := &cobra.Command{
		Use:   "observe [-o FILE] -- COMMAND [ARGUMENT…]",
		Short: "Record what a command reads, writes, runs and connects to",
		Long: `Observe runs a command as it is, with the caller's own rights and standard streams, and
records through strace what it and all that it starts read, write, list, run and connect to,
and what it used. The observations are for umwelt ratchet, one JSON object a line. The file is
written when everything that the command started has ended, whole or not at all.

Nothing confines the command: umwelt run --observe records one within the bounds of a view.
That a variable of the environment was read cannot be seen from outside, so it is not recorded.

A command that leaves processes behind is recorded until they end. An interrupt then ends them.

Exit status: the command's own; 128+n where signal n ended it; 125 where it could not be
recorded to its end; 126 where it could not be run and 127 where it was not found; 2 where the
arguments are unusable or the file cannot be written; 3 where strace is missing or may not trace.`,
		Example: `  umwelt observe -- make test
  umwelt observe -o build.jsonl --context mode=implement -- go build ./...
  umwelt ratchet --observations jsonl://build.jsonl`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.StringVarP(&f.output, "output", "o", "observations.jsonl", "write the observations to `file`, which must not be there yet")
	flags.BoolVar(&f.force, "force", false, "overwrite the files that are there")
	flags.StringVar(&f.keepLog, "keep-log", "", "keep strace's own log in `file`")
	flags.StringArrayVar(&f.context, "context", nil, "what is active, as `type=id[,type=id]` (repeatable; \\, is a comma in an id)")
	must(c.RegisterFlagCompletionFunc("context", cobra.NoFileCompletions))
	c.RunE = func(c *cobra.Command, words []string) error {
		switch dash := c.ArgsLenAtDash(); {
		case dash != 0:
			return problem(diag.BadOption, "for example umwelt observe -- make test", "%s needs -- and a command after it, and nothing before", c.CommandPath())
		case len(words) == 0 || words[0] == "":
			return problem(diag.BadOption, "see "+c.CommandPath()+" --help", "%s needs a command after --", c.CommandPath())
		}
		return f.run(std, words)
	}
	return c
}

// check refuses what would overwrite something, or be mixed with the command's output.
func (f *observeFlags) check() error {
	var list diag.List
	for _, to := range []struct{ flag, path string }{{"output", f.output}, {"keep-log", f.keepLog}} {
		switch info, err := os.Stat(to.path); {
		case to.path == "" && to.flag == "keep-log":
		case to.path == "" || to.path == "-":
			list.Errorf(diag.BadOption, diag.Span{}, "--%s takes a file: standard output is the command's", to.flag)
		case err == nil && info.Mode().IsRegular() && !f.force:
			list.Errorf(diag.Output, diag.Span{}, "%s is there already", diag.Quote(to.path)).Hint = "--force overwrites it"
		}
	}
	if list != nil {
		return &problemsError{list}
	}
	return nil
}

func (f *observeFlags) run(std *streams, argv []string) error {
	if err := f.check(); err != nil {
		return err
	}
	context, err := parseContext(f.context)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return problem(diag.Unreadable, "", "the working directory cannot be told: %v", cause(err))
	}
	program, err := record.Find("")
	if err != nil {
		return missingRecorder(err)
	}
	r, err := newRecording(f.output, context)
	if err != nil {
		return err
	}
	defer r.close()
	o := record.Options{Dir: dir, Emit: r.add}
	if f.keepLog != "" {
		log, done, err := f.openLog()
		if err != nil {
			return err
		}
		defer done()
		o.Log = log
		if r.log, err = filepath.Abs(f.keepLog); err != nil {
			r.log = f.keepLog
		}
	}
	stop := make(chan os.Signal, 4)
	signal.Notify(stop, runner.Signals()...)
	defer signal.Stop(stop)
	command := record.Command{Argv: argv, Stop: stop, Lingering: func() {
		fmt.Fprintln(std.err, "umwelt: the command has ended; processes that it left behind are recorded until they end, which an interrupt does")
	}}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	result, failed := record.Run(program, command, o)
	r.tally = result.Tally
	if failed != nil && result.Wall == 0 {
		return statusError{runner.ExitFailed, "nothing was run: " + diag.Escape(failed.Error())}
	}
	if failed != nil {
		r.tally.Cut(failed.Error())
	}
	if err := r.finishObserve(std, f, argv, &result); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return statusError{runner.ExitFailed, diag.Escape(failed.Error())}
	case result.Exit == runner.ExitNotFound && result.Program == "":
		return statusError{result.Exit, "the command was not found"}
	case result.Exit == runner.ExitCannot && result.Program == "":
		return statusError{result.Exit, "the command cannot be run"}
	case result.Exit != 0:
		return statusError{result.Exit, ""}
	}
	return nil
}

// finishObserve writes the observations.
func (r *recording) finishObserve(std *streams, f *observeFlags, argv []string, result *record.Result) error {
	r.say(std)
	head := []ratchet.Observation{r.command(argv, result.Started, result.Exit, result.Program == "")}
	var tail []ratchet.Observation
	if result.Program != "" {
		tail = measures(result.Started.Add(result.Wall), result.Wall, result.User+result.System, result.MaxRSS)
	}
	return std.writeBy(f.output, !f.force, func(to io.Writer) error { return r.write(to, head, tail, nil) })
}

// openLog makes the file of the raw log, which is written as the command runs.
func (f *observeFlags) openLog() (log io.Writer, done func(), err error) {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(f.keepLog, mode, 0o600)
	if err != nil {
		return nil, nil, problem(diag.Output, "", "%s cannot be written: %v", diag.Quote(f.keepLog), cause(err))
	}
	text := bufio.NewWriterSize(file, 1<<18)
	return text, func() {
		_ = text.Flush()
		file.Close()
	}, nil
}

// missingRecorder is the error where strace is missing or may not trace.
func missingRecorder(err error) error {
	var missing *record.MissingError
	if errors.As(err, &missing) {
		return statusError{exitMissing, "nothing was run: " + missing.What + "\n  hint: " + missing.How}
	}
	return statusError{exitMissing, "nothing was run: " + diag.Escape(err.Error())}
}
