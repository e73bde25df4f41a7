// Package umwelt answers what a policy says, and is what a Go program embeds.
//
// A policy is one or more views (what applies), a world (what exists) and a vocabulary
// (what the words mean). Load reads them from files and LoadText takes them as text;
// either resolves them once, and the Policy that comes back answers every question from
// then on:
//
//   - Find and Select find what to ask about, whether it exists or not: a path that nothing
//     stands at yet is answered as if it did.
//   - Property, Properties and Type answer; In answers under another context.
//   - Check and Require hold the policy to something: Require is a *DeniedError, with the
//     proof, where the policy says otherwise.
//   - Call does the same for one call, such as a command, and ExplainCall says what each
//     property makes of it.
//   - Explain is the proof of an answer. It can be printed, and it can be replayed.
//   - Lint is what is likely to be a mistake, and what has drifted from a Baseline.
//   - Extend is the policy with more entities or rules, in time that depends on those alone.
//     The policy that was extended stays as it is.
//   - Compile writes what an enforcement tool reads.
//   - Save writes it all as a database, which answers in SQL; Open and Load open one again.
//
// A Policy does not change after it was made. Any number of goroutines may ask it at once,
// extend it and compile it.
//
// Nothing unknown is read as permission: an unknown word in a question is an error, and a
// policy with an error among its diagnostics answers nothing (see Policy.Err).
//
// # Compatibility
//
// From version 1.0 on, a program that compiles against this package compiles against, and
// means the same with, every later version of the same major number: exported names stay,
// signatures stay, and the same texts give the same answers. Structs may gain fields, so
// literals name theirs. The wording of messages, of reasons and of printed proofs may
// change; diagnostic codes, kinds of reason and names of sources may not. Where a version
// is found to read a policy more permissively than the language says, the next one reads it
// rightly, and its release notes say so. Before 1.0 a minor version may break any of this,
// and its release notes say how. Of the module's other packages the promise covers the types
// that this one hands out, and nothing else.
package umwelt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/database"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/simulation"
	"umwelt/world"
	"umwelt/world/discover"
)

// Options say what to load a policy from. The zero value loads views over the implicit
// world of the working directory.
type Options struct {
	Vocabularies []string // paths of vocabulary files, beside the ones that ship with the tool
	World        string   // path of the world file; "" to look for one, see FindWorld
	Root         string   // the project root, see ResolveRoot; "" is the working directory
	Env          string   // id of the root entity for this run; "" leaves it to the world file
	Context      []cascade.Ref
	AllowOutside bool // world files may include from outside their directory
	Stat         bool // discovery also records sizes, times and permission bits
	// Stdin is read where a path is "-".
	Stdin io.Reader
}

// Policy is a loaded policy. It is not changed after it was made, and may be read by many
// goroutines at once.
type Policy struct {
	Registry   *registry.Registry
	Views      []*ast.View
	Bound      *registry.Bound
	World      *world.World // nil where Extend added entities: Resolution.World makes it
	Resolution *cascade.Resolution
	// Sources are the texts that the policy was read from, in the order in which they were
	// read: views and what they import, vocabularies, world files and what they include.
	// Their names are the paths under which they were read, relative ones to the working
	// directory; the name of standard input is "<stdin>". What ships with the tool is not
	// among them.
	Sources []*diag.Source
	// Diagnostics are everything that was found on the way. Where one is an error, the
	// fields above hold only what came before it.
	Diagnostics diag.List

	paths *pathIndex
	words []*diag.Source // the vocabularies, those that ship with the tool first
	rest  int            // how many of Sources are not of the world
}

// maxFile bounds the files that are read as views, vocabularies and worlds.
const maxFile = 16 << 20

// Load reads, binds and resolves. It returns a policy in every case; its Err says whether
// it may be used.
func Load(o Options, views ...string) *Policy {
	p := &Policy{}
	p.load(o, views)
	return p
}

// Err is nil where the policy may be used, else it lists the errors among Diagnostics.
func (p *Policy) Err() error { return p.Diagnostics.Err() }

func (p *Policy) load(o Options, paths []string) {
	if i := slices.IndexFunc(paths, database.Is); i >= 0 {
		if len(paths) > 1 {
			p.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "%s is a saved policy, which takes no view beside it", diag.Escape(paths[i]))
			return
		}
		p.reopen(o, nil, paths[0])
		return
	}
	root, list := ResolveRoot(o.Root)
	if p.Diagnostics = list; list.HasErrors() {
		return
	}
	o.Root = root
	p.parse(o, paths)
	if p.Diagnostics.HasErrors() {
		return
	}
	p.rest = len(p.Sources)
	w, list := p.loadWorld(o, paths)
	p.resolve(o.Context, w, list)
}

// resolve takes a loaded world in and works out the answers.
func (p *Policy) resolve(context []cascade.Ref, w *world.World, list diag.List) {
	p.World = w
	p.Diagnostics = append(p.Diagnostics, list...)
	if p.Diagnostics.HasErrors() || w == nil {
		return
	}
	r, list := cascade.New(w, p.Bound).Resolve(context)
	p.Diagnostics = append(p.Diagnostics, list...)
	if !p.Diagnostics.HasErrors() {
		p.answerBy(r)
	}
}

// answerBy makes p answer by r, which is complete in itself.
func (p *Policy) answerBy(r *cascade.Resolution) {
	p.Resolution, p.paths = r, &pathIndex{of: r}
}

// ResolveRoot is a project root as the world has it: absolute, and reached through no
// symbolic link, so that it has one name and whoever looks for mounts that hold it finds
// them. "" is the working directory.
func ResolveRoot(root string) (string, diag.List) {
	var list diag.List
	abs, err := filepath.Abs(root)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(abs); err == nil && !info.IsDir() {
			err = errors.New("it is no directory")
		}
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		if root == "" {
			root = "."
		}
		list.Errorf(diag.BadPath, diag.Span{}, "the root %s cannot be read: %v", diag.Quote(root), err)
	}
	return abs, list
}

// Parse reads and binds views and their vocabulary, without a world.
func Parse(o Options, views ...string) *Policy {
	p := &Policy{}
	p.parse(o, views)
	return p
}

func (p *Policy) parse(o Options, paths []string) {
	in := importer(p.record)
	for _, path := range paths {
		src, err := ReadSource(path, o.Stdin)
		if err != nil {
			p.Diagnostics.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
			continue
		}
		p.record(src)
		v, list := parser.Parse(src)
		p.Views = append(p.Views, v)
		p.Diagnostics = append(p.Diagnostics, list...)
	}
	sources, list := vocabularySources(o.Vocabularies)
	for _, src := range sources {
		p.record(src)
	}
	p.words = slices.Concat(shipped(), sources)
	reg, more := vocabulary(p.words, in, p.Views)
	p.bind(reg, append(list, more...), in)
}

// record adds to Sources what is not there yet.
func (p *Policy) record(src *diag.Source) {
	if !slices.ContainsFunc(p.Sources, func(s *diag.Source) bool { return s.Name == src.Name && bytes.Equal(s.Text, src.Text) }) {
		p.Sources = append(p.Sources, src)
	}
}

func (p *Policy) bind(reg *registry.Registry, list diag.List, in registry.Importer) {
	p.Registry = reg
	p.Diagnostics = append(p.Diagnostics, list...)
	defer p.keepSecrets()
	if list.HasErrors() || slices.ContainsFunc(p.Diagnostics, func(d diag.Diagnostic) bool { return d.Code == diag.TooLarge }) {
		return // what is cut short would only be costly to bind
	}
	p.Bound = reg.Bind(registry.Options{Import: in}, p.Views...)
	p.Diagnostics = append(p.Diagnostics, p.Bound.Diagnostics...)
}

// Vocabulary is the registry of the vocabularies that ship with the tool, of the files at
// the given paths and of what the views themselves define.
func Vocabulary(paths []string, views ...*ast.View) (*registry.Registry, diag.List) {
	sources, list := vocabularySources(paths)
	reg, more := vocabulary(slices.Concat(shipped(), sources), Importer(), views)
	return reg, append(list, more...)
}

func vocabularySources(paths []string) ([]*diag.Source, diag.List) {
	var list diag.List
	var sources []*diag.Source
	for _, path := range paths {
		src, err := ReadSource(path, nil)
		if err != nil {
			list.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
			continue
		}
		sources = append(sources, src)
	}
	return sources, list
}

// shipped are the vocabularies that ship with the tool.
func shipped() []*diag.Source {
	return []*diag.Source{sandbox.Vocabulary(), simulation.Vocabulary()}
}

// vocabulary is the registry of vocabularies and of what views define.
func vocabulary(sources []*diag.Source, in registry.Importer, views []*ast.View) (*registry.Registry, diag.List) {
	var list diag.List
	var all []*ast.View
	for _, src := range sources {
		v, l := parser.Parse(src)
		all, list = append(all, v), append(list, l...)
	}
	reg := registry.New()
	list = append(list, reg.Load(registry.Options{Import: in}, append(all, views...)...)...)
	if err := sandbox.Register(reg); err != nil {
		list.Errorf(diag.BadVocabulary, diag.Span{}, "%v", err)
	}
	return reg, list
}

// Importer reads the files that views import, relative to the importing file.
func Importer() registry.Importer { return importer(func(*diag.Source) {}) }

// importer tells record of every file that it reads.
func importer(record func(*diag.Source)) registry.Importer {
	return func(from *diag.Source, path string) (*ast.View, diag.List, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(from.Name), path)
		}
		src, err := ReadSource(path, nil)
		if err != nil {
			return nil, nil, errors.Unwrap(err)
		}
		record(src)
		v, list := parser.Parse(src)
		return v, list, nil
	}
}

// ReadSource reads a view or a vocabulary, "-" from stdin. Its lines that may hold a value
// which is never printed are private, by the vocabularies that ship with the tool. At most one byte more than
// 16 MiB is read, so that the parser sees a larger one and refuses it.
func ReadSource(path string, stdin io.Reader) (*diag.Source, error) {
	if path == "-" && stdin != nil {
		return readAll("<stdin>", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: diag.Escape(path), Err: errors.Unwrap(err)}
	}
	defer f.Close()
	switch strings.ToLower(filepath.Ext(path)) {
	case ".db", ".sqlite", ".sqlite3":
		// One that is empty or damaged would else be read as a view without rules.
		return nil, &fs.PathError{Op: "read", Path: diag.Escape(path), Err: errors.New("by its name it is a database, and not a text")}
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: diag.Escape(path), Err: errors.New("it is a directory")}
	}
	return readAll(path, f)
}

func readAll(name string, r io.Reader) (*diag.Source, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: diag.Escape(name), Err: err}
	}
	return &diag.Source{Name: filepath.ToSlash(name), Text: text, Private: secretsOf(nil).hides}, nil
}

// loadWorld loads the world file, or makes the implicit world where there is none.
func (p *Policy) loadWorld(o Options, views []string) (*world.World, diag.List) {
	options := p.worldOptions(o)
	path := o.World
	if path == "" {
		path = FindWorld(o.Root, views)
	}
	if path == "" {
		return world.Implicit(options)
	}
	if path != "-" || o.Stdin == nil {
		return world.Load(path, options)
	}
	src, err := ReadSource(path, o.Stdin)
	if err != nil {
		return nil, diag.List{{Severity: diag.Error, Code: diag.Unreadable, Message: fmt.Sprintf("the world file cannot be read: %v", err)}}
	}
	p.record(src)
	return world.LoadText(src, ".", options)
}

// worldOptions are WorldOptions with what the views say of the world.
func (p *Policy) worldOptions(o Options) world.Options {
	options := WorldOptions(o, p.Registry)
	options.Read = p.record
	options.Named = p.Bound.Pins()
	options.Declared = p.Bound.Entities
	for _, attr := range []string{"size", "mtime", "mode", "links"} {
		options.Stat = options.Stat || p.Bound.Mentions(attr)
	}
	return options
}

// WorldOptions are the world package's options for a loaded vocabulary.
func WorldOptions(o Options, reg *registry.Registry) world.Options {
	return world.Options{
		Private: secretsOf(reg).hides, Registry: reg, Root: o.Root, Name: o.Env, AllowOutside: o.AllowOutside, Stat: o.Stat,
		Matchers: discover.Matchers(discover.Host{Environ: os.Environ}), Collections: sandbox.Collection,
	}
}

// WorldPaths are where FindWorld looks, in order.
func WorldPaths(root string, views []string) []string {
	var out []string
	if len(views) > 0 && views[0] != "-" {
		out = append(out, strings.TrimSuffix(views[0], filepath.Ext(views[0]))+".world.yml")
	}
	return append(out, filepath.Join(root, "umwelt.world.yml"))
}

// FindWorld is the world file that stands for none being named: the first view's sibling
// of the same stem, else umwelt.world.yml in the root, else "".
func FindWorld(root string, views []string) string {
	for _, path := range WorldPaths(root, views) {
		// Anything but "it does not exist" is left for reading the file to report: an
		// unreadable world file must not turn into the implicit world.
		if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}
