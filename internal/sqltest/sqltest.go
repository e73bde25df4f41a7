// Package sqltest runs the SQL scripts of tests in real databases.
//
// Where a database is missing the test is skipped by name, and fails where
// UMWELT_REQUIRE_TOOLS is 1. internal/ci/setup.sh installs them.
package sqltest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Engine runs scripts, each in a place of its own.
type Engine interface {
	// Run loads a script, then runs each statement. A query gives JSON arrays of texts and
	// nulls, one a row; any other statement gives no rows.
	Run(script string, statements ...string) ([][][]*string, error)
}

// missing skips the test, or fails it where tools are required.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is missing; internal/ci/setup.sh installs it", what)
	}
	t.Skipf("%s is missing", what)
}

// Postgres starts a server of its own on a socket in a temporary directory. It does not run
// as root, which PostgreSQL refuses.
func Postgres(t testing.TB) Engine {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	psql, err := exec.LookPath("psql")
	if len(found) == 0 || err != nil {
		missing(t, "PostgreSQL (Debian's package postgresql)")
	}
	bin := filepath.Dir(found[len(found)-1])
	// A socket's path has to be short, so the test's own temporary directory will not do.
	dir, err := os.MkdirTemp("/tmp", "umwelt-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var attributes *syscall.SysProcAttr
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			missing(t, "the user postgres (Debian's package postgresql)")
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	server := func(args ...string) {
		t.Helper()
		c := exec.Command(args[0], args[1:]...)
		c.Dir, c.SysProcAttr = dir, attributes
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(args[0]), err, out)
		}
	}
	data := filepath.Join(dir, "data")
	server(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "umwelt", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	server(filepath.Join(bin, "pg_ctl"), "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", "-k "+dir+" -c listen_addresses= -c fsync=off -c max_connections=10", "start")
	t.Cleanup(func() {
		c := exec.Command(filepath.Join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "stop")
		c.Dir, c.SysProcAttr = dir, attributes
		_ = c.Run()
	})
	return &postgres{psql: psql, dir: dir}
}

type postgres struct {
	psql, dir string
	n         int
}

// Run puts the script into a schema of its own.
func (p *postgres) Run(script string, statements ...string) ([][][]*string, error) {
	p.n++
	schema := "s" + strconv.Itoa(p.n)
	var in strings.Builder
	in.WriteString("SET client_min_messages = warning;\nCREATE SCHEMA " + schema + ";\nSET search_path = " + schema + ";\n" + script)
	for _, s := range statements {
		in.WriteString(s + ";\n\\echo\n")
	}
	in.WriteString("DROP SCHEMA " + schema + " CASCADE;\n")
	c := exec.Command(p.psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", p.dir, "-U", "umwelt", "-d", "postgres", "-f", "-")
	c.Stdin = strings.NewReader(in.String())
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil {
		return nil, &failure{err, complaints.String()}
	}
	var all [][][]*string
	var rows [][]*string
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			all, rows = append(all, rows), nil
			continue
		}
		var row []*string
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, &failure{err, line}
		}
		rows = append(rows, row)
	}
	return all, nil
}

type failure struct {
	err  error
	text string
}

func (f *failure) Error() string { return f.err.Error() + "\n" + f.text }

// DuckDB runs DuckDB as the npm package @duckdb/node-api ships it.
func DuckDB(t testing.TB) Engine {
	t.Helper()
	home := os.Getenv("UMWELT_DUCKDB")
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		home = filepath.Join(cache, "umwelt-test", "duckdb")
	}
	node, err := exec.LookPath("node")
	if _, missed := os.Stat(filepath.Join(home, "node_modules", "@duckdb", "node-api")); err != nil || missed != nil {
		missing(t, "DuckDB (node, and the npm package @duckdb/node-api in "+home+")")
	}
	script := filepath.Join(t.TempDir(), "duck.cjs")
	if err := os.WriteFile(script, []byte(runner), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(node, script)
	c.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(home, "node_modules"))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait()
	})
	return &duck{in, bufio.NewReader(out)}
}

type duck struct {
	in  io.Writer
	out *bufio.Reader
}

// runner answers one request a line: a script and statements, in a database of their own.
const runner = `
const { DuckDBInstance } = require('@duckdb/node-api');
const lines = require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity });
(async () => {
  for await (const line of lines) {
    const request = JSON.parse(line);
    const answer = { results: [] };
    try {
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      await connection.run(request.script);
      for (const statement of request.statements) {
        const reader = await connection.runAndReadAll(statement);
        answer.results.push(reader.getRowsJson().map(row => JSON.parse(row[0])).filter(Array.isArray));
      }
      connection.closeSync();
      instance.closeSync();
    } catch (e) {
      answer.error = String(e.message);
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
})();
`

// Run puts the script into a database in memory.
func (d *duck) Run(script string, statements ...string) ([][][]*string, error) {
	request, err := json.Marshal(map[string]any{"script": script, "statements": statements})
	if err != nil {
		return nil, err
	}
	if _, err := d.in.Write(append(request, '\n')); err != nil {
		return nil, err
	}
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer struct {
		Results [][][]*string
		Error   string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, &failure{io.ErrUnexpectedEOF, answer.Error}
	}
	return answer.Results, nil
}
