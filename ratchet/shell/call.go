package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtins are the commands that Bash runs itself.
var builtins = strings.Fields(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable
	eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray
	readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`)

// call takes a simple command apart.
func (s *splitter) call(call *syntax.CallExpr, redirects []Redirect, script *Word, c context, st *state) {
	var assigns []Assign
	for _, a := range call.Assigns {
		s.substitutions(a, c, st)
		assigns = append(assigns, s.assign(a))
	}
	var words []Word
	for _, w := range call.Args {
		s.substitutions(w, c, st)
		words = append(words, s.word(w))
	}
	s.run(Command{Words: words, Assigns: assigns, Redirects: redirects}, script, c, st)
}

// run adds a command and what it runs in turn.
func (s *splitter) run(cmd Command, script *Word, c context, st *state) {
	if c.depth++; c.depth > maxNesting {
		s.fail("it is nested deeper than %d", maxNesting)
		return
	}
	name := cmd.Program()
	does, defined := st.functions[name]
	inShell := c.via == "" || c.via == "builtin" || c.via == "command"
	switch {
	case len(cmd.Words) == 0:
		cmd.Kind = Nothing
	case name == "":
		cmd.Kind = Unclear
	case c.via == "" && defined:
		cmd.Kind = Function
	case inShell && slices.Contains(builtins, name):
		cmd.Kind = Builtin
	default:
		cmd.Kind = Program
	}
	s.emit(cmd, c, st)
	switch cmd.Kind {
	case Function:
		if does.moves {
			st.dir, st.held = Dir{}, false
		}
		if does.ends {
			st.most = Maybe
		}
	case Builtin:
		s.builtin(cmd, c, st)
	case Program:
		s.through(cmd, script, c, st)
	}
}

// builtin follows what a builtin does to the process, and what it runs.
func (s *splitter) builtin(cmd Command, c context, st *state) {
	args := cmd.Words[1:]
	switch name := cmd.Words[0].Text; name {
	case "cd":
		st.dir, st.held = changed(st.dir, args, cmd.Assigns), false
	case "pushd", "popd", ".", "source":
		st.dir, st.held = Dir{}, false
	case "set":
		for _, w := range args {
			switch {
			case w.Dynamic, strings.HasPrefix(w.Text, "+"):
				st.errexit = false
			case w.Text == "errexit", strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "e"):
				st.errexit = c.runs == Always
			}
		}
		if st.errexit {
			st.most = least(st.most, OnSuccess)
		}
	case "exit", "return":
		failing := len(args) == 1 && !args[0].Dynamic && strings.Trim(args[0].Text, "0123456789") == "" && strings.Trim(args[0].Text, "0") != ""
		if c.runs != Always && failing {
			st.most = least(st.most, OnSuccess)
		} else {
			st.most = Maybe
		}
	case "eval":
		text, ok := join(args)
		if !ok {
			s.fail("eval runs what is known only once it runs")
			return
		}
		s.script(text, c, st)
	case "trap":
		if len(args) > 1 && !args[0].Dynamic && args[0].Text != "-" && args[0].Text != "" && !strings.HasPrefix(args[0].Text, "-") {
			own := st.copy()
			own.dir = Dir{}
			s.script(args[0].Text, maybe(c), own)
		}
	case "command", "builtin", "exec":
		rest, ok := options(args, map[string]string{"command": "", "builtin": "", "exec": "a"}[name])
		if name == "command" && slices.ContainsFunc(args[:len(args)-len(rest)], func(w Word) bool { return w.Text == "-v" || w.Text == "-V" }) {
			return
		}
		if !ok {
			s.fail("%s runs what is known only once it runs", name)
		} else if len(rest) > 0 {
			inner := c
			if inner.via = name; name == "exec" {
				defer func() { st.most = Maybe }()
			}
			s.run(Command{Words: rest}, nil, inner, st)
		}
	}
}

// changed is the directory after cd, if that succeeds.
func changed(from Dir, args []Word, assigns []Assign) Dir {
	for len(args) > 0 && !args[0].Dynamic && (args[0].Text == "-L" || args[0].Text == "--") {
		args = args[1:]
	}
	cdpath := slices.ContainsFunc(assigns, func(a Assign) bool { return a.Name == "CDPATH" })
	if len(args) != 1 || args[0].Dynamic || args[0].Text == "" || args[0].Text[0] == '-' || cdpath {
		return Dir{}
	}
	to := path.Clean(args[0].Text)
	switch {
	case path.IsAbs(to):
		return Dir{Path: to, Known: true}
	case !from.Known:
		return Dir{}
	}
	if to = path.Join(from.Path, to); to == "." {
		to = ""
	}
	return Dir{Path: to, Known: true}
}

// join is words with blanks between them. ok is false where one is not known.
func join(words []Word) (text string, ok bool) {
	texts := make([]string, len(words))
	for i, w := range words {
		if w.Dynamic {
			return "", false
		}
		texts[i] = w.Text
	}
	return strings.Join(texts, " "), true
}
