package shell

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a program that runs another one, which its words name.
type wrapper struct {
	takes string   // the letters of options that take the next word
	long  []string // the long options that take it
	skip  int      // how many words stand before the program
	sets  bool     // assignments may stand before it
	sure  bool     // it runs the program if it runs at all
	moves []string // options that change the directory
}

var wrappers = map[string]wrapper{
	"env":     {takes: "uC", long: []string{"--unset", "--chdir"}, sets: true, sure: true, moves: []string{"-C", "--chdir"}},
	"sudo":    {takes: "CDghpRrtTUu", long: []string{"--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--role", "--type", "--other-user", "--command-timeout", "--close-from"}, sets: true, moves: []string{"-D", "-R", "-i", "--chdir", "--chroot", "--login"}},
	"doas":    {takes: "uC"},
	"nohup":   {sure: true},
	"time":    {takes: "fo", long: []string{"--format", "--output"}, sure: true},
	"timeout": {takes: "ks", long: []string{"--kill-after", "--signal"}, skip: 1, sure: true},
	"nice":    {takes: "n", long: []string{"--adjustment"}, sure: true},
	"ionice":  {takes: "cn", long: []string{"--class", "--classdata"}, sure: true},
	"stdbuf":  {takes: "ioe", long: []string{"--input", "--output", "--error"}, sure: true},
	"setsid":  {sure: true},
	"xargs":   {takes: "adEIiLlnPs", long: []string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--max-chars", "--replace"}},
}

// shells read a script.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash"}

// through takes apart what a program runs.
func (s *splitter) through(cmd Command, script *Word, c context, st *state) {
	name := path.Base(cmd.Words[0].Text)
	args := cmd.Words[1:]
	inner := c
	inner.via, inner.apart = name, true
	own := st.copy()
	own.functions, own.errexit = nil, false
	switch {
	case slices.Contains(shells, name):
		s.shell(args, script, inner, own)
	case name == "find":
		s.find(args, maybe(inner), own)
	default:
		w, ok := wrappers[name]
		if !ok {
			return
		}
		s.wrapped(w, name, args, inner, own)
	}
}

// wrapped takes apart what a wrapper's words name.
func (s *splitter) wrapped(w wrapper, name string, args []Word, c context, st *state) {
	rest, ok := options(args, w.takes, w.long...)
	if !ok {
		s.fail("%s runs what is known only once it runs", name)
		return
	}
	for _, given := range args[:len(args)-len(rest)] {
		option, _, _ := strings.Cut(given.Text, "=")
		switch {
		case slices.ContainsFunc(w.moves, func(m string) bool { return option == m || len(m) == 2 && strings.HasPrefix(given.Text, m) }):
			st.dir = Dir{}
		case name == "env" && (strings.HasPrefix(given.Text, "-S") || option == "--split-string"):
			s.fail("env -S splits words that are not read here")
			return
		}
	}
	var assigns []Assign
	for w.sets && len(rest) > 0 {
		variable, value, is := strings.Cut(rest[0].Text, "=")
		if !is || strings.ContainsAny(variable, "$`\"'\\ ") {
			break
		}
		assigns = append(assigns, Assign{variable, Word{value, rest[0].Dynamic}})
		rest = rest[1:]
	}
	if len(rest) <= w.skip {
		return
	}
	if !w.sure {
		if c.runs = least(c.runs, OnSuccess); !c.ok || name == "xargs" {
			c.runs = Maybe
		}
	}
	if name == "xargs" {
		c.ok = false
	}
	s.run(Command{Words: rest[w.skip:], Assigns: assigns}, nil, c, st)
}

// options passes over the options of a program, up to the first word that is none. ok is
// false where a word that is not known could be one.
func options(args []Word, takes string, long ...string) (rest []Word, ok bool) {
	for len(args) > 0 {
		w := args[0]
		switch {
		case w.Dynamic && !strings.Contains(w.Text, "="):
			return args, true // the program itself is what is not known
		case w.Text == "--":
			return args[1:], true
		case w.Text == "-" || !strings.HasPrefix(w.Text, "-"):
			if w.Text == "-" {
				args = args[1:]
				continue
			}
			return args, true
		}
		args = args[1:]
		takesNext := false
		if strings.HasPrefix(w.Text, "--") {
			takesNext = slices.Contains(long, w.Text)
		} else if last := w.Text[len(w.Text)-1]; strings.IndexByte(takes, last) >= 0 {
			// Letters before it that take a word would have taken the rest of this one.
			takesNext = !strings.ContainsAny(w.Text[1:len(w.Text)-1], takes)
		}
		if takesNext {
			if len(args) == 0 {
				return nil, true
			}
			args = args[1:]
		}
	}
	return nil, true
}

// shell takes apart the script of a shell: that of -c, or what stands on its standard input.
func (s *splitter) shell(args []Word, script *Word, c context, st *state) {
	for len(args) > 0 {
		w := args[0]
		if w.Dynamic || w.Text == "-" || w.Text == "--" || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+' {
			break
		}
		args = args[1:]
		short := !strings.HasPrefix(w.Text, "--")
		switch {
		case short && strings.Contains(w.Text, "c") && w.Text[0] == '-':
			for len(args) > 0 && !args[0].Dynamic && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
				args = args[1:]
			}
			if len(args) == 0 {
				return
			}
			script = &args[0]
			st.errexit = strings.Contains(w.Text, "e")
			s.inner(script, c, st)
			return
		case short && strings.IndexByte("oO", w.Text[len(w.Text)-1]) >= 0, w.Text == "--rcfile", w.Text == "--init-file":
			if len(args) > 0 {
				args = args[1:]
			}
		}
	}
	if len(args) == 0 && script != nil {
		c.hereDoc = true
		s.inner(script, c, st)
	}
}

func (s *splitter) inner(script *Word, c context, st *state) {
	if script.Dynamic {
		s.fail("%s runs what is known only once it runs", c.via)
		return
	}
	c.via = ""
	s.script(script.Text, c, st)
}

// find takes apart what find runs for what it finds.
func (s *splitter) find(args []Word, c context, st *state) {
	for i := 0; i < len(args); i++ {
		if args[i].Dynamic || !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, args[i].Text) {
			continue
		}
		own := st.copy()
		if strings.HasSuffix(args[i].Text, "dir") {
			own.dir = Dir{}
		}
		var words []Word
		for i++; i < len(args) && args[i].Text != ";" && args[i].Text != "+"; i++ {
			w := args[i]
			w.Dynamic = w.Dynamic || strings.Contains(w.Text, "{}")
			words = append(words, w)
		}
		if len(words) > 0 {
			s.run(Command{Words: words}, nil, c, own)
		}
	}
}
