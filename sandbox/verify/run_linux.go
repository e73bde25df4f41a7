package verify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"umwelt/cascade"
	"umwelt/compilers/confine"
	"umwelt/sandbox/runner"
	"umwelt/sandbox/verify/probe"
)

// verifier is one verification.
type verifier struct {
	Options
	target  *target
	report  *Report
	dir     string // a directory of its own, beside the copy
	program string // the probe in it
	scratch string // a writable directory inside
	environ []string
	values  map[string]string
	ends    []func()

	interrupted atomic.Bool
	live        atomic.Pointer[session]
}

// Run verifies. A *runner.MissingError says that the target is not here.
func Run(o Options, res *cascade.Resolution) (report *Report, err error) {
	v := &verifier{Options: o, report: &Report{Target: o.Target}, scratch: "/tmp"}
	list := targets()
	i := slices.IndexFunc(list, func(t target) bool { return t.info.Name == o.Target })
	if i < 0 {
		return nil, fmt.Errorf("there is no target %q that can be verified", o.Target)
	}
	v.target = &list[i]
	if err := v.target.available(); err != nil {
		return nil, err
	}
	v.report.Version = v.target.version()
	defer func() {
		for _, end := range slices.Backward(v.ends) {
			end()
		}
	}()
	defer v.watch()()
	if err := v.prepare(); err != nil {
		return nil, err
	}
	if !o.InPlace {
		if res, err = v.copy(res); err != nil {
			return nil, err
		}
	}
	return v.report, v.verify(res)
}

// watch ends the sandbox at the first signal to end, so that everything is cleaned up. The
// second one is not caught.
func (v *verifier) watch() (done func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	go func() {
		if _, open := <-signals; open {
			signal.Stop(signals)
			v.interrupted.Store(true)
			if s := v.live.Load(); s != nil {
				s.stop()
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

func (v *verifier) atEnd(end func()) { v.ends = append(v.ends, end) }

func (v *verifier) doing(what string) {
	if v.Doing != nil {
		v.Doing(what)
	}
}

func (v *verifier) remark(text string) {
	if !slices.Contains(v.report.Remarks, text) {
		v.report.Remarks = append(v.report.Remarks, text)
	}
}

// prepare makes a directory of this run's own, with the probe in it.
func (v *verifier) prepare() error {
	scratch := v.Scratch
	if scratch == "" {
		scratch = "/var/tmp"
	}
	dir, err := os.MkdirTemp(scratch, "umwelt-verify-")
	if err != nil {
		return err
	}
	v.atEnd(func() { _ = removeTree(dir) })
	if v.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if err := os.Chmod(v.dir, 0o755); err != nil {
		return err
	}
	v.program = filepath.Join(v.dir, "umwelt")
	if err := copyFile(v.Program, v.program); err != nil {
		return err
	}
	return os.Chmod(v.program, 0o755)
}

// copy makes a copy of the project and resolves the policy over it.
func (v *verifier) copy(res *cascade.Resolution) (*cascade.Resolution, error) {
	v.doing("copying the project")
	root := filepath.Join(v.dir, filepath.Base(res.World().Root))
	if root == v.program {
		root += "-copy"
	}
	left, err := copyTree(res.World().Root, root, v.interrupted.Load)
	if err != nil {
		return nil, err
	}
	if left > 0 {
		v.remark(fmt.Sprintf("%d sockets or devices of the project were not copied, and so not tried", left))
	}
	v.doing("resolving the policy over the copy")
	return v.Load(root)
}

func (v *verifier) verify(res *cascade.Resolution) error {
	usual := v.Set[confine.NewFiles.Key] == "usual"
	c, problems := confine.FromWith(res, confine.Options{Usual: usual})
	if problems.HasErrors() {
		return problems.Err()
	}
	v.report.Coverage = v.target.coverage(v, res, c)
	v.environ, v.values = withMarkers(v.Environ, res), runner.Values(res)
	c.System = append(slices.Clone(c.System), confine.Mount{Path: v.program, Source: v.program, Type: "bind", ReadOnly: true})
	sub, err := newSubject(res, c, v.target.rights(c), usual)
	if err != nil {
		return err
	}
	for _, text := range sub.odd {
		v.remark(text)
	}
	t := &tally{report: v.report, kinds: map[string]int{}}
	defer t.finish()
	free := *c
	free.Limits = confine.Limits{}
	v.doing("starting " + v.target.info.Name)
	s, err := v.start(&free)
	if err != nil {
		return err
	}
	err = v.tryAll(s, res, &free, sub, t)
	s.close()
	if err != nil {
		return err
	}
	return v.tryLimits(c, t)
}

// tryAll tries everything that needs only one sandbox.
func (v *verifier) tryAll(s *session, res *cascade.Resolution, c *confine.Confinement, sub *subject, t *tally) error {
	outside, err := v.outside(c)
	if err != nil {
		return err
	}
	network, l, err := v.network(c)
	if err != nil {
		return err
	}
	defer l.close()
	v.report.Endpoints = len(network)
	if err := v.tryEnvironment(s, res, t); err != nil {
		return err
	}
	if err := v.run(s, append(outside, network...), t); err != nil {
		return err
	}
	chosen := v.choose(sub.places)
	v.report.Paths, v.report.Of = len(chosen), len(sub.places)
	var around *place
	for _, p := range sub.places {
		if p.kind == confine.Dir && p.mode == confine.ReadWrite && p.has&confine.Change != 0 && p.lets(anything) {
			around = p
			break
		}
	}
	var dirs []*place
	var checks []check
	for i, p := range chosen {
		if p.kind == confine.Dir {
			dirs = append(dirs, p)
		}
		checks = append(checks, sub.checks(p, v.target, v.scratch, around, v.InPlace)...)
		if len(checks) >= batch || i == len(chosen)-1 {
			v.doing(fmt.Sprintf("trying %d of %d paths", i+1, len(chosen)))
			if err := v.run(s, checks, t); err != nil {
				return err
			}
			checks = nil
		}
	}
	if v.InPlace {
		v.remark("in place, nothing was tried that changes a file of the project if it is not stopped")
		return nil
	}
	if err := v.tryLater(s, sub, dirs, t); err != nil {
		return err
	}
	return v.tryReplaced(s, sub, chosen, t)
}

// batch is how many checks go to the probe at once.
const batch = 4096

// run has the probe try some checks and counts what came of them.
func (v *verifier) run(s *session, checks []check, t *tally) error {
	ops := make([]probe.Op, len(checks))
	for i := range checks {
		ops[i] = checks[i].op
	}
	results, err := s.ask(ops)
	if err != nil {
		return err
	}
	t.add(checks, results)
	return nil
}

// choose is the places to try, in their order.
func (v *verifier) choose(places []*place) []*place {
	if v.Sample <= 0 || v.Sample >= len(places) {
		return places
	}
	picked := rand.New(rand.NewPCG(v.Seed, 0)).Perm(len(places))[:v.Sample]
	slices.Sort(picked)
	var out []*place
	for _, i := range picked {
		out = append(out, places[i])
	}
	return out
}
