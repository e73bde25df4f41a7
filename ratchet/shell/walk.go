package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// context is where a statement stands.
type context struct {
	runs When
	ok   bool // if the whole text ends with the status 0, so does this statement
	via  string

	lenient bool // what fails does not end the process, whatever was set

	substitution, pipe, background, hereDoc, apart bool

	depth int
}

// state is what statements change for those after them, in one process.
type state struct {
	dir       Dir
	held      bool // dir holds even if what came last failed
	errexit   bool // whatever fails ends the process
	most      When // no statement from here on is surer than this, for the process may have ended
	functions map[string]effect
}

// effect is what calling a function may change for what follows.
type effect struct{ moves, ends bool }

func (st *state) copy() *state {
	out := *st
	out.functions = maps.Clone(st.functions)
	return &out
}

// least is the less sure of two.
func least(a, b When) When {
	order := []When{Always, OnSuccess, Maybe}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// emit adds a command.
func (s *splitter) emit(cmd Command, c context, st *state) {
	if len(s.out) >= maxCommands {
		s.fail("it holds more than %d commands", maxCommands)
		return
	}
	cmd.Runs, cmd.Dir, cmd.Via = least(c.runs, st.most), st.dir, c.via
	cmd.Substitution, cmd.Pipe, cmd.Background, cmd.HereDoc, cmd.Apart = c.substitution, c.pipe, c.background, c.hereDoc, c.apart
	s.out = append(s.out, cmd)
}

// statements takes a list apart that runs in order.
func (s *splitter) statements(list []*syntax.Stmt, c context, st *state) {
	if c.depth++; c.depth > maxNesting {
		s.fail("it is nested deeper than %d", maxNesting)
		return
	}
	for i, stmt := range list {
		inner := c
		_, simple := stmt.Cmd.(*syntax.CallExpr)
		strict := st.errexit && !c.lenient
		inner.ok = c.ok && (i == len(list)-1 || strict && simple)
		before := st.dir
		s.statement(stmt, inner, st)
		if i < len(list)-1 && st.dir != before && !st.held && !(strict && simple) {
			st.dir = Dir{} // it may have failed, and the next runs all the same
		}
		st.held = false
	}
}

func (s *splitter) statement(stmt *syntax.Stmt, c context, st *state) {
	if c.depth++; c.depth > maxNesting {
		s.fail("it is nested deeper than %d", maxNesting)
		return
	}
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		c.background, c.apart, c.ok = true, true, false
		st = st.copy()
	}
	if stmt.Negated {
		c.ok, c.lenient = false, true
	}
	var redirects []Redirect
	var script *Word // what a shell would read on its standard input
	for _, r := range stmt.Redirs {
		if r.Word != nil {
			s.substitutions(r.Word, c, st)
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				doc := c
				doc.hereDoc = true
				s.substitutions(r.Hdoc, doc, st)
			}
			script = s.document(r)
			continue
		case syntax.WordHdoc:
			w := s.word(r.Word)
			script = &w
			continue
		}
		if out, ok := s.redirect(r); ok {
			redirects = append(redirects, out)
		}
	}
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case simple:
		s.call(call, redirects, script, c, st)
		return
	case len(redirects) > 0:
		s.emit(Command{Kind: Nothing, Redirects: redirects}, c, st)
	}
	if stmt.Cmd != nil {
		s.compound(stmt.Cmd, c, st)
	}
}

// document is the body of a here-document. Where its word is quoted, nothing in it is
// expanded.
func (s *splitter) document(r *syntax.Redirect) *Word {
	if r.Hdoc == nil {
		return &Word{}
	}
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return &Word{Dynamic: true}
		}
		b.WriteString(lit.Value)
	}
	text := b.String()
	if r.Word != nil && r.Word.Lit() != "" && !strings.Contains(r.Word.Lit(), `\`) {
		text = quoted(text)
	}
	return &Word{Text: text}
}

// redirect reads a redirection. ok is false for one that opens no file.
func (s *splitter) redirect(r *syntax.Redirect) (out Redirect, ok bool) {
	if r.Word == nil {
		return out, false
	}
	out.Path = s.word(r.Word)
	switch r.Op {
	case syntax.RdrIn:
		out.Read = true
	case syntax.RdrInOut:
		out.Read, out.Write = true, true
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		out.Write = true
	case syntax.DplOut:
		// ">&word" is "&>word", unless the word is a number or "-".
		if out.Write = strings.Trim(out.Path.Text, "0123456789-") != ""; out.Path.Dynamic {
			out.Write = true
		}
	}
	// A process substitution opens a pipe.
	for _, part := range r.Word.Parts {
		if _, process := part.(*syntax.ProcSubst); process {
			return out, false
		}
	}
	return out, out.Read || out.Write
}

// compound takes apart what is made of other statements.
func (s *splitter) compound(cmd syntax.Command, c context, st *state) {
	switch cmd := cmd.(type) {
	case *syntax.BinaryCmd:
		s.binary(cmd, c, st)
	case *syntax.Block:
		s.statements(cmd.Stmts, c, st)
	case *syntax.Subshell:
		c.apart = true
		s.statements(cmd.Stmts, c, st.copy())
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			s.statement(cmd.Stmt, c, st)
		}
	case *syntax.CoprocClause:
		c.background, c.apart, c.ok = true, true, false
		s.statement(cmd.Stmt, c, st.copy())
	case *syntax.IfClause:
		for branch := cmd; branch != nil; branch = branch.Else {
			before := st.dir
			if len(branch.Cond) > 0 {
				cond := c
				cond.ok, cond.lenient = false, true
				s.statements(branch.Cond, cond, st)
				c.runs = Maybe
			}
			s.perhaps(func(own *state) { s.statements(branch.Then, maybe(c), own) }, st)
			if st.dir != before {
				st.dir = Dir{} // the condition may have failed
			}
		}
	case *syntax.WhileClause:
		cond := c
		cond.ok, cond.lenient = false, true
		s.perhaps(func(own *state) {
			s.statements(cmd.Cond, cond, own)
			s.statements(cmd.Do, maybe(c), own)
		}, st)
	case *syntax.ForClause:
		s.substitutions(cmd.Loop, c, st)
		s.perhaps(func(own *state) { s.statements(cmd.Do, maybe(c), own) }, st)
	case *syntax.CaseClause:
		s.substitutions(cmd.Word, c, st)
		for _, item := range cmd.Items {
			for _, p := range item.Patterns {
				s.substitutions(p, maybe(c), st)
			}
			s.perhaps(func(own *state) { s.statements(item.Stmts, maybe(c), own) }, st)
		}
	case *syntax.FuncDecl:
		s.function(cmd, c, st)
	case *syntax.DeclClause:
		s.declare(cmd, c, st)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		s.substitutions(cmd, c, st)
	default:
		s.fail("it holds something that is not known")
	}
}

func maybe(c context) context {
	c.runs, c.ok = Maybe, false
	return c
}

// binary takes apart two statements that hang on each other.
func (s *splitter) binary(cmd *syntax.BinaryCmd, c context, st *state) {
	before := st.dir
	switch cmd.Op {
	case syntax.AndStmt:
		left := c
		left.lenient = true
		s.statement(cmd.X, left, st)
		right := c
		if right.runs = least(c.runs, OnSuccess); !c.ok {
			right.runs = Maybe
		}
		s.statement(cmd.Y, right, st)
	case syntax.OrStmt:
		left := c
		left.ok, left.lenient = false, true
		s.statement(cmd.X, left, st)
		after, most := st.dir, st.most
		other := st.copy()
		if _, simple := cmd.X.Cmd.(*syntax.CallExpr); simple {
			other.dir = before // a cd that failed
		} else if after != before {
			other.dir = Dir{}
		}
		s.statement(cmd.Y, maybe(c), other)
		switch {
		case ends(cmd.Y): // whoever comes past this did not fail before
			st.dir, st.held, st.most = after, true, least(most, other.most)
			return
		case other.dir != after:
			st.dir = Dir{}
		}
		st.most = least(most, other.most)
	default: // a pipe
		left := c
		left.pipe, left.apart, left.ok = true, true, false
		s.statement(cmd.X, left, st.copy())
		right := c
		right.pipe, right.apart = true, true
		s.statement(cmd.Y, right, st.copy())
	}
}

// ends reports whether a statement surely ends the process, if it runs.
func ends(stmt *syntax.Stmt) bool {
	if stmt.Background {
		return false
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			return false
		}
		name, ok := static(cmd.Args[0])
		return ok && (name == "exit" || name == "return")
	case *syntax.Block:
		return len(cmd.Stmts) > 0 && ends(cmd.Stmts[len(cmd.Stmts)-1])
	}
	return false
}

// perhaps runs what may run not at all or many times: if it changes the directory, nobody
// knows it then, nor within.
func (s *splitter) perhaps(body func(*state), st *state) {
	from := len(s.out)
	own := st.copy()
	body(own)
	st.most, st.errexit = least(st.most, own.most), st.errexit && own.errexit
	st.functions = own.functions
	if own.dir != st.dir {
		st.dir = Dir{}
		for i := from; i < len(s.out); i++ {
			if s.out[i].Dir.Known && !strings.HasPrefix(s.out[i].Dir.Path, "/") {
				s.out[i].Dir = Dir{}
			}
		}
	}
}

// function takes note of a function, whose body runs where somebody calls it.
func (s *splitter) function(f *syntax.FuncDecl, c context, st *state) {
	from := len(s.out)
	own := st.copy()
	own.dir = Dir{}
	s.statement(f.Body, maybe(c), own)
	var does effect
	for i := from; i < len(s.out); i++ {
		cmd := &s.out[i]
		called := st.functions[cmd.Program()]
		switch name := cmd.Program(); {
		case cmd.Apart:
		case cmd.Kind == Function:
			does.moves, does.ends = does.moves || called.moves, does.ends || called.ends
		case cmd.Kind == Builtin && slices.Contains([]string{"cd", "pushd", "popd", ".", "source"}, name):
			does.moves = true
		case cmd.Kind == Builtin && (name == "exit" || name == "exec"):
			does.ends = true
		}
	}
	if st.functions == nil {
		st.functions = map[string]effect{}
	}
	for _, name := range append(f.Names, f.Name) {
		if name != nil {
			st.functions[name.Value] = does
		}
	}
}

// declare takes apart export, local and the like.
func (s *splitter) declare(d *syntax.DeclClause, c context, st *state) {
	cmd := Command{Kind: Builtin, Words: []Word{{Text: d.Variant.Value}}}
	for _, a := range d.Args {
		s.substitutions(a, c, st)
		if a.Naked {
			if a.Value != nil {
				cmd.Words = append(cmd.Words, s.word(a.Value))
			} else if a.Name != nil {
				cmd.Words = append(cmd.Words, Word{Text: a.Name.Value})
			}
			continue
		}
		cmd.Assigns = append(cmd.Assigns, s.assign(a))
	}
	s.emit(cmd, c, st)
}

func (s *splitter) assign(a *syntax.Assign) Assign {
	out := Assign{}
	if a.Name != nil {
		out.Name = a.Name.Value
	}
	switch {
	case a.Array != nil, a.Index != nil, a.Append:
		out.Value.Dynamic = true
	case a.Value != nil:
		out.Value = s.word(a.Value)
	}
	return out
}
