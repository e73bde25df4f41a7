package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/policytest"
	"umwelt/world"
)

// testFlags are the flags of test alone.
type testFlags struct {
	vocabularyFlags
	format, output  string
	coverage, watch bool
}

func testCommand(std *streams) *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Run the unit tests of views",
		Long: `Test runs test files: files whose names end in _test.umw.yml and that say which answers a
view must give. A PATH is such a file, or a directory that is searched for them; without
one it is the working directory. docs/testing.md describes the files.

With --coverage it also takes out every rule and every restriction in turn and says which
of them no case would miss. With --watch it runs again whenever a file that it read has
changed. JSON has the schema umwelt.test/1.

Exit status: 0 where all cases pass; 1 where some fail; 2 where a file is unusable.`,
		Example:           "  umwelt test\n  umwelt test policies --coverage\n  umwelt test auth-fix_test.umw.yml --format junit -o report.xml",
		ValidArgsFunction: completeWorlds,
	}
	check := formatFlag(c, &f.format, "text", "json", "junit", "tap")
	c.Flags().BoolVar(&f.coverage, "coverage", false, "say which rules and restrictions no case would miss")
	c.Flags().BoolVar(&f.watch, "watch", false, "run again whenever a file changes, until interrupted")
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(c *cobra.Command, paths []string) error {
		if err := check(); err != nil {
			return err
		}
		if len(paths) == 0 {
			paths = []string{"."}
		}
		if slices.Contains(append(slices.Clone(paths), f.vocabularies...), "-") {
			return problem(diag.BadOption, "", "test reads files only, so - is no path")
		}
		if f.watch {
			return f.watchFiles(c.Context(), std, paths, everySecond())
		}
		report, err := f.run(std, paths)
		if err != nil {
			return err
		}
		return f.deliver(std, report)
	}
	return c
}

// run runs every test file below the paths.
func (f *testFlags) run(std *streams, paths []string) (*testReport, error) {
	files, err := findTests(paths)
	if err != nil {
		return nil, err
	}
	report := &testReport{covered: map[string]int{}}
	for _, path := range files {
		std.doing("testing " + path)
		f.file(std, path, report)
	}
	std.stopProgress()
	return report, nil
}

// file runs one test file.
func (f *testFlags) file(std *streams, path string, report *testReport) {
	out := fileReport{path: filepath.ToSlash(path)}
	report.read = append(report.read, path)
	src, err := umwelt.ReadSource(path, nil)
	if err != nil {
		out.list.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
		report.files = append(report.files, out)
		return
	}
	file, list := policytest.Parse(src)
	out.list = list
	if f.judge(out.list) == nil {
		var p *umwelt.Policy
		if out.list = append(out.list, missing(path, file, report)...); f.judge(out.list) == nil {
			p = f.subject(path, file, report)
			out.list = append(out.list, p.Diagnostics...)
		}
		if f.judge(out.list) == nil {
			s := policytest.Subject{Engine: p.Resolution.Engine(), Pick: picker(p)}
			var result *policytest.Result
			var coverage *policytest.Coverage
			if f.coverage {
				result, coverage, list = policytest.Cover(file, s, func(done, all int) {
					if done == 0 {
						std.doing("taking rules out of " + path)
					}
				})
			} else {
				result, list = policytest.Run(file, s)
			}
			out.list = append(out.list, list...)
			out.result = result
			report.cover(coverage)
		}
	}
	if f.strict {
		out.list = out.list.Strict()
	}
	report.files = append(report.files, out)
}

// missing are the files that a test file names and that cannot be had, each where it is
// named. All that it names counts as read, so that it is noticed when what is missing comes.
func missing(path string, file *policytest.File, report *testReport) (list diag.List) {
	named := slices.Concat(file.Views, file.Vocabularies)
	for _, t := range []*policytest.Text{file.World, file.Root} {
		if t != nil {
			named = append(named, *t)
		}
	}
	for _, t := range named {
		at := filepath.Join(filepath.Dir(path), filepath.FromSlash(t.Value))
		if file.Root == nil || t != *file.Root {
			report.read = append(report.read, at)
		}
		if _, err := os.Stat(at); err != nil {
			list.Errorf(diag.Unreadable, t.At, "%s cannot be read: %v", diag.Quote(at), cause(err))
		}
	}
	return list
}

// subject loads the policy that a test file speaks of, and notes what it read.
func (f *testFlags) subject(path string, file *policytest.File, report *testReport) *umwelt.Policy {
	dir := filepath.Dir(path)
	in := func(t *policytest.Text, without string) string {
		if t == nil {
			return without
		}
		return filepath.Join(dir, filepath.FromSlash(t.Value))
	}
	o := umwelt.Options{Vocabularies: slices.Clone(f.vocabularies), Root: in(file.Root, dir), World: in(file.World, "")}
	if file.Env != nil {
		o.Env = file.Env.Value
	}
	for _, t := range file.Vocabularies {
		o.Vocabularies = append(o.Vocabularies, in(&t, ""))
	}
	var views []string
	for _, t := range file.Views {
		views = append(views, in(&t, ""))
	}
	var p *umwelt.Policy
	if file.Inline == nil {
		p = umwelt.Load(o, views...)
	} else {
		p = umwelt.Parse(o, views...)
		if !p.Diagnostics.HasErrors() {
			inlineWorld(p, o, file.Inline, dir)
		}
	}
	report.read = append(report.read, o.Vocabularies...)
	if file.World == nil && file.Inline == nil {
		report.read = append(report.read, umwelt.WorldPaths(o.Root, views)...) // one that comes would count
	}
	for _, src := range p.Sources {
		report.read = append(report.read, src.Name)
	}
	return p
}

// inlineWorld resolves a parsed policy over a world that the test file itself holds.
func inlineWorld(p *umwelt.Policy, o umwelt.Options, src *diag.Source, dir string) {
	root, list := umwelt.ResolveRoot(o.Root)
	if p.Diagnostics = append(p.Diagnostics, list...); list.HasErrors() {
		return
	}
	o.Root = root
	options := umwelt.WorldOptions(o, p.Registry)
	options.Named, options.Declared = p.Bound.Pins(), p.Bound.Entities
	options.Read = func(src *diag.Source) { p.Sources = append(p.Sources, src) }
	w, list := world.LoadText(src, dir, options)
	p.World = w
	if p.Diagnostics = append(p.Diagnostics, list...); w == nil || p.Diagnostics.HasErrors() {
		return
	}
	p.Resolution, list = cascade.New(w, p.Bound).Resolve(nil)
	p.Diagnostics = append(p.Diagnostics, list...)
}

// picker finds the entities of a policy that a selector fits.
func picker(p *umwelt.Policy) func(string) ([]policytest.Target, bool, diag.List) {
	return func(selector string) (found []policytest.Target, unusable bool, list diag.List) {
		subjects, err := p.Select(selector)
		if err != nil {
			list = problemsOf(asProblem(err))
			return nil, slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code != diag.UnknownEntity }), list
		}
		for _, s := range subjects {
			found = append(found, policytest.Target{Entity: s.Entity, Index: s.Index})
		}
		return found, false, nil
	}
}

// mostEntries bounds how many directory entries are looked at for test files.
const mostEntries = 200_000

// findTests are the test files that the paths name or hold, each once, in order. Hidden
// directories and links are passed over.
func findTests(paths []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(path string) {
		if path = filepath.Clean(path); !seen[path] {
			seen[path] = true
			out = append(out, path)
		}
	}
	entries := 0
	var faults diag.List
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			faults.Errorf(diag.Unreadable, diag.Span{}, "%s cannot be read: %v", diag.Quote(path), cause(err))
			continue
		}
		if !info.IsDir() {
			add(path)
			continue
		}
		err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
			switch entries++; {
			case err != nil:
				faults.Errorf(diag.Unreadable, diag.Span{}, "%s cannot be read: %v", diag.Quote(at), cause(err))
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
			case entries > mostEntries:
				return errors.New("it holds too much to be searched for tests")
			case d.IsDir() && at != path && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.Type().IsRegular() && strings.HasSuffix(d.Name(), policytest.Suffix):
				add(at)
			}
			return nil
		})
		if err != nil {
			faults.Errorf(diag.TooLarge, diag.Span{}, "%s: %v", diag.Quote(path), err)
		}
	}
	if faults == nil && len(out) == 0 {
		faults.Errorf(diag.BadOption, diag.Span{}, "there is no test file").Hint = "the names of test files end in " + policytest.Suffix
	}
	if faults != nil {
		return nil, &problemsError{faults}
	}
	return out, nil
}
