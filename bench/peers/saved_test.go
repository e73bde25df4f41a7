package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"umwelt"
)

// questions is how many questions a process is asked.
const questions = 1000

// process is a program that opens a compiled policy and answers all questions. answers
// reads what it prints.
type process struct {
	name    string
	command func() *exec.Cmd
	answers func(out []byte) ([]bool, error)
}

// build makes a program of the module in a directory.
func build(t testing.TB, to, module, pkg string) string {
	t.Helper()
	out := filepath.Join(to, filepath.Base(pkg))
	c := exec.Command("go", "build", "-trimpath", "-o", out, pkg)
	c.Dir = module
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	run(t, c)
	return out
}

func run(t testing.TB, c *exec.Cmd) []byte {
	t.Helper()
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, errs.String())
	}
	return out
}

func write(t testing.TB, path string, text []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// worldFile is the project as a world file.
func (p *policy) worldFile() []byte {
	var b strings.Builder
	b.WriteString("name: bench\nentities:\n")
	seen := map[string]bool{}
	for _, f := range p.files {
		for k := len(f.dirs) - 1; k >= 0; k-- {
			if dir := f.dirs[k]; !seen[dir] {
				seen[dir] = true
				fmt.Fprintf(&b, "  - { type: dir, id: %q, attributes: { path: %q } }\n", dir, dir)
			}
		}
		classes := ""
		if f.secret {
			classes = ", classes: [secret]"
		}
		fmt.Fprintf(&b, "  - { type: file, id: %q%s, attributes: { path: %q } }\n", f.path, classes, f.path)
	}
	return []byte(b.String())
}

// asked are the files that are asked about.
func (p *policy) asked() []int { return p.order[:min(questions, len(p.order))] }

// umweltProcesses save the policy as a database, which one program opens as a policy and
// the other asks in SQL.
func umweltProcesses(t testing.TB, dir, ask, tool string, p *policy) []process {
	db := filepath.Join(dir, "policy.db")
	loaded := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "bench.umw", Text: p.view()}},
		World: &umwelt.Source{Name: "bench.world.yml", Text: p.worldFile()},
	})
	if err := loaded.Err(); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Save(db); err != nil {
		t.Fatal(err)
	}
	var paths, rows strings.Builder
	for n, i := range p.asked() {
		paths.WriteString(p.files[i].path + "\n")
		if n > 0 {
			rows.WriteString(", ")
		}
		fmt.Fprintf(&rows, "(%d, '%s')", n, p.files[i].path)
	}
	statement := "WITH asked(n, path) AS (VALUES " + rows.String() + ")\n" +
		"SELECT f.editable = 'true' AS answer FROM asked JOIN type_file AS f ON f.entity = asked.path ORDER BY asked.n"
	return []process{
		{"umwelt-open", func() *exec.Cmd {
			c := exec.Command(ask, db)
			c.Stdin = strings.NewReader(paths.String())
			return c
		}, words},
		{"umwelt-query", func() *exec.Cmd { return exec.Command(tool, "query", db, statement, "--format", "json") }, func(out []byte) ([]bool, error) {
			var doc struct{ Rows [][]int }
			err := json.Unmarshal(out, &doc)
			var answers []bool
			for _, row := range doc.Rows {
				answers = append(answers, row[0] == 1)
			}
			return answers, err
		}},
	}
}

// words reads a true or false per line.
func words(out []byte) ([]bool, error) {
	var answers []bool
	for _, w := range strings.Fields(string(out)) {
		if w != "true" && w != "false" {
			return nil, fmt.Errorf("there is no answer %q", w)
		}
		answers = append(answers, w == "true")
	}
	return answers, nil
}

// opaProcess compiles the rules and their data into a bundle. It is not optimized, since
// opa eval takes longer with one that is: that writes the data out as rules.
func opaProcess(t testing.TB, dir, opa string, p *policy) process {
	data, err := json.Marshal(map[string]any{"rules": p.opaRules()})
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "bundle")
	write(t, filepath.Join(source, "bench.rego"), []byte(module))
	write(t, filepath.Join(source, "data.json"), data)
	bundle := filepath.Join(dir, "bundle.tar.gz")
	run(t, exec.Command(opa, "build", "-b", source, "-o", bundle))
	var inputs []map[string]any
	for _, i := range p.asked() {
		f := p.files[i]
		inputs = append(inputs, map[string]any{"path": f.path, "dirs": f.dirs, "ext": f.ext, "secret": f.secret})
	}
	input, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	const query = "[answer | some question in input; answer := data.bench.allow with input as question]"
	return process{"opa-eval", func() *exec.Cmd {
		c := exec.Command(opa, "eval", "-b", bundle, "-I", "--format", "raw", query)
		c.Stdin = bytes.NewReader(input)
		return c
	}, func(out []byte) (answers []bool, err error) { return answers, json.Unmarshal(out, &answers) }}
}

// processes compiles the policy for every program, and holds each to the naive answers. opa
// may be "", for none.
func processes(t testing.TB, dir string, p *policy, ask, tool, opa string) []process {
	all := umweltProcesses(t, dir, ask, tool, p)
	if opa != "" {
		all = append(all, opaProcess(t, dir, opa, p))
	}
	for _, x := range all {
		answers, err := x.answers(run(t, x.command()))
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if len(answers) != len(p.asked()) {
			t.Fatalf("%s answers %d of %d questions", x.name, len(answers), len(p.asked()))
		}
		for n, i := range p.asked() {
			if answers[n] != p.decide(i) {
				t.Fatalf("%s says %v of %s, and the rules %v", x.name, answers[n], p.files[i].path, !answers[n])
			}
		}
	}
	return all
}

// TestSavedAgreement holds the programs to the same answers, but for opa, which takes
// minutes to build: the benchmark compares its answers.
func TestSavedAgreement(t *testing.T) {
	dir := t.TempDir()
	processes(t, dir, newPolicy(3000, 150), build(t, dir, ".", "./ask"), build(t, dir, "../..", "./cmd/umwelt"), "")
}

// BenchmarkSaved is one process from its start to its end: it opens what was compiled
// before and answers a thousand questions about files.
func BenchmarkSaved(b *testing.B) {
	dir := b.TempDir()
	ask, tool, opa := build(b, dir, ".", "./ask"), build(b, dir, "../..", "./cmd/umwelt"), build(b, dir, ".", "github.com/open-policy-agent/opa")
	for _, size := range []struct{ files, rules int }{{1000, 100}, {10_000, 1000}, {100_000, 10_000}} {
		name := fmt.Sprintf("files=%d,rules=%d", size.files, size.rules)
		place := filepath.Join(dir, name)
		if err := os.Mkdir(place, 0o777); err != nil {
			b.Fatal(err)
		}
		for _, x := range processes(b, place, newPolicy(size.files, size.rules), ask, tool, opa) {
			b.Run(name+"/"+x.name, func(b *testing.B) {
				for b.Loop() {
					run(b, x.command())
				}
			})
		}
	}
}
