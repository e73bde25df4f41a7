// Package shell takes a command line apart, as Bash reads it, without running anything: which
// programs it runs, with which words, what is read and written, where, and how sure it is
// that each of them runs at all.
//
// Nothing is guessed. A word that only a running shell can tell is marked, and a directory
// or a program that hangs on such a word is not known. What runs a program that its words
// name (env, sudo, xargs, sh -c and the like) is looked through, so that both appear.
package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"umwelt/diag"
)

// Command is one simple command.
type Command struct {
	Words     []Word // the program first; without any, the command only assigns or redirects
	Kind      Kind
	Assigns   []Assign // what is set before it, or for the whole shell where Words is empty
	Redirects []Redirect
	Runs      When
	Dir       Dir    // the directory that it starts in
	Via       string // the program that runs it, where the shell itself does not, such as "sudo"

	Substitution bool // it stands in $(…), `…` or <(…)
	Pipe         bool // it is part of a pipeline
	Background   bool // nobody waits for it
	HereDoc      bool // it stands in a here-document
	Apart        bool // it runs in a process of its own, so that what it sets is lost
}

// Program is the static text of the first word, or "".
func (c *Command) Program() string {
	if len(c.Words) == 0 || c.Words[0].Dynamic {
		return ""
	}
	return c.Words[0].Text
}

// Kind says what a command's first word is.
type Kind string

// The kinds. Unclear is a word that only the shell can tell; Nothing is a command without
// words.
const (
	Program  Kind = "program"
	Builtin  Kind = "builtin"
	Function Kind = "function" // defined in the same text
	Unclear  Kind = "unclear"
	Nothing  Kind = "nothing"
)

// Word is a word of a command. Text is what the program gets; where Dynamic is set, it is
// the text as written, and what the program gets is known only once it runs.
type Word struct {
	Text    string
	Dynamic bool
}

// Assign is a variable that is set.
type Assign struct {
	Name  string
	Value Word
}

// Redirect is a file that is opened for a command.
type Redirect struct {
	Path        Word
	Read, Write bool
}

// When says how sure it is that a command runs, if the text runs at all.
type When string

// From the surest to the least sure.
const (
	Always    When = "always"
	OnSuccess When = "on success" // if the whole text ends with the status 0
	Maybe     When = "maybe"
)

// Dir is a directory: Path where it is Known, absolute or relative to where the text began;
// "" is that place itself.
type Dir struct {
	Path  string
	Known bool
}

// Bounds of what is taken apart.
const (
	maxText     = 256 << 10
	maxNesting  = 100
	maxCommands = 10_000
)

// Split takes a text apart, in the order in which a shell meets the commands. The problem is
// one plain sentence without a stop that says why the list is not all of it, "" where it is.
// It may hold words of the text.
func Split(text string) (commands []Command, problem string) {
	s := splitter{}
	s.script(text, context{runs: Always, ok: true}, &state{dir: Dir{Known: true}, most: Always})
	return s.out, s.problem
}

type splitter struct {
	out     []Command
	problem string
	text    string // what is being read
}

// fail notes the first problem.
func (s *splitter) fail(format string, args ...any) {
	if s.problem == "" {
		s.problem = fmt.Sprintf(format, args...)
	}
}

// script takes a text apart that a shell reads in this context.
func (s *splitter) script(text string, c context, st *state) {
	if c.depth++; c.depth > maxNesting {
		s.fail("it is nested deeper than %d", maxNesting)
		return
	}
	file, err := parse(text)
	if err != nil {
		s.fail("%s", err)
		return
	}
	outer := s.text
	s.text = text
	s.statements(file.Stmts, c, st)
	s.text = outer
}

// parse reads a text as Bash does.
func parse(text string) (*syntax.File, error) {
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("it is longer than %d bytes", maxText)
	case strings.ContainsRune(text, 0):
		return nil, errors.New("it holds a NUL byte")
	case nesting(text) > maxOpen:
		return nil, fmt.Errorf("it opens more than %d parentheses, braces and quotes", maxOpen)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("it cannot be read as a shell does: %s", diag.Escape(err.Error()))
	}
	return file, nil
}

// maxOpen bounds what the parser, which calls itself for whatever is nested, may have to
// go down into.
const maxOpen = 20_000

// nesting is no less than how deeply a text can be nested.
func nesting(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[', '`', '!', '~', '-', '+':
			n++
		}
	}
	for _, word := range []string{"if", "while", "until", "for", "select", "case", "time", "function", "coproc"} {
		n += strings.Count(text, word)
	}
	return n
}
