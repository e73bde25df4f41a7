// Package database opens policies that were written as SQLite files: to ask them in SQL,
// and to read back what a policy was made of.
//
// Such a file is outside text. It is opened so that nothing can be written, neither to it
// nor beside it; the tables that a policy is read from have to be defined exactly as
// compilers/sqlite defines them; and whatever is read is held to what a world file is
// held to.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"umwelt/cascade"
	"umwelt/compilers/sqlite"
	"umwelt/diag"
)

// maxFile bounds how large a file may be.
const maxFile = 4 << 30

// header is how every SQLite file begins.
const header = "SQLite format 3\x00"

// Is reports whether a file looks like a SQLite database. What cannot be read does not.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var start [len(header)]byte
	_, err = io.ReadFull(f, start[:])
	return err == nil && string(start[:]) == header
}

// File is an open database. It is for one goroutine.
type File struct {
	path string
	info os.FileInfo // of the file as it was before it was opened
	pool *sql.DB
	conn *sql.Conn
}

// Open opens a database for reading. It must not change while it is open.
func Open(path string) (*File, error) { return OpenIn(path, nil) }

// OpenIn is Open with views that answer in another context than the one that was saved,
// where context is not nil. The file does not change: a copy in memory takes its place.
func OpenIn(path string, context []cascade.Ref) (*File, error) {
	f := &File{path: path}
	if err := f.open(context); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", diag.Escape(path), err)
	}
	return f, nil
}

func (f *File) open(refs []cascade.Ref) error {
	info, err := os.Stat(f.path)
	f.info = info
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Size() > maxFile:
		return fmt.Errorf("it is larger than %d bytes", int64(maxFile))
	case !Is(f.path):
		return errors.New("it is no SQLite database")
	}
	abs, err := filepath.Abs(f.path)
	if err != nil {
		return err
	}
	file := url.URL{Scheme: "file", Path: abs, RawQuery: "mode=ro&immutable=1&_defensive=1"}
	name := file.String()
	if refs != nil {
		name = "file::memory:?_defensive=1"
	}
	if f.pool, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	ctx := context.Background()
	if f.conn, err = f.pool.Conn(ctx); err != nil {
		return damaged(err)
	}
	if refs != nil {
		if err := f.copy(); err != nil {
			return damaged(err)
		}
	}
	if err := f.bound(ctx); err != nil {
		return damaged(err)
	}
	if err := f.check(ctx); err != nil {
		return err
	}
	if refs != nil {
		if err := f.setContext(ctx, refs); err != nil {
			return err
		}
	}
	if _, err := f.conn.ExecContext(ctx, "PRAGMA query_only = ON"); err != nil {
		return damaged(err)
	}
	return f.conn.Raw(func(c any) error { return c.(driver.AuthorizerRegisterer).RegisterAuthorizer(authorize) })
}

// again opens the same file once more, for another goroutine. It is an error where another
// file has taken its place by now.
func (f *File) again() (*File, error) {
	g, err := Open(f.path)
	if err != nil {
		return nil, err
	}
	now, err := os.Stat(f.path)
	if err == nil && !(os.SameFile(f.info, now) && f.info.ModTime().Equal(now.ModTime()) && f.info.Size() == now.Size()) {
		err = errors.New("another file has taken its place")
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// copy reads the file into the connection's own memory.
func (f *File) copy() error {
	bytes, err := os.ReadFile(f.path)
	if err != nil {
		return errors.Unwrap(err)
	}
	return f.conn.Raw(func(c any) error { return c.(interface{ Deserialize([]byte) error }).Deserialize(bytes) })
}

// bound limits what the connection may use.
func (f *File) bound(ctx context.Context) error {
	for _, l := range [][2]int{
		{lib.SQLITE_LIMIT_LENGTH, 64 << 20}, {lib.SQLITE_LIMIT_SQL_LENGTH, 1 << 20}, {lib.SQLITE_LIMIT_ATTACHED, 0}, {lib.SQLITE_LIMIT_WORKER_THREADS, 0},
	} {
		if _, err := driver.Limit(f.conn, l[0], l[1]); err != nil {
			return err
		}
	}
	for _, p := range []string{"trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"} {
		if _, err := f.conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	return nil
}

// setContext changes the copy in memory. Its own triggers refuse what does not exist; no
// others may run.
func (f *File) setContext(ctx context.Context, refs []cascade.Ref) error {
	for _, table := range []string{"active_context", "entities"} {
		if err := f.defined(ctx, table); err != nil {
			return err
		}
	}
	triggers, err := f.column(ctx, "SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid")
	if err != nil {
		return damaged(err)
	}
	if !slices.Equal(triggers, sqlite.Triggers()) {
		return errors.New("its triggers are not what umwelt writes")
	}
	if _, err := f.conn.ExecContext(ctx, "DELETE FROM active_context"); err != nil {
		return damaged(err)
	}
	for _, r := range refs {
		if _, err := f.conn.ExecContext(ctx, "INSERT OR IGNORE INTO active_context VALUES (?, ?)", r.Type, r.ID); err != nil {
			return fmt.Errorf("the context names %s %s, which does not exist in this world", diag.Escape(r.Type), diag.Quote(r.ID))
		}
	}
	return nil
}

// column is the one column of a query, as texts.
func (f *File) column(ctx context.Context, query string) ([]string, error) {
	rows, err := f.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// check refuses what this tool did not write, or not in a form that this version reads, and
// anything whose reading could run other code than SQL.
func (f *File) check(ctx context.Context) error {
	var id int64
	if err := f.conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return damaged(err)
	}
	if id != sqlite.ApplicationID {
		return errors.New("it is a SQLite database, but no policy that umwelt compiled")
	}
	var virtual int
	err := f.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage = 0").Scan(&virtual)
	switch {
	case err != nil:
		return damaged(err)
	case virtual > 0:
		return errors.New("it holds virtual tables, which umwelt does not write")
	}
	if err := f.defined(ctx, "world_meta"); err != nil {
		return err
	}
	var schema string
	if err := f.conn.QueryRowContext(ctx, "SELECT value FROM world_meta WHERE key = 'schema'").Scan(&schema); err != nil {
		return damaged(err)
	}
	if schema != sqlite.Schema {
		return fmt.Errorf("it has the schema %s, and this version reads %s", diag.Quote(schema), sqlite.Schema)
	}
	return nil
}

// defined refuses a table that is not defined as compilers/sqlite does.
func (f *File) defined(ctx context.Context, table string) error {
	var definition string
	err := f.conn.QueryRowContext(ctx, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&definition)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("it has no table %s", table)
	case err != nil:
		return damaged(err)
	case definition != sqlite.Definition(table):
		return fmt.Errorf("its table %s is not what umwelt writes", table)
	}
	return nil
}

// damaged is an error of SQLite's own about the file.
func damaged(err error) error { return fmt.Errorf("it cannot be read: %w", err) }

// Close lets go of the file.
func (f *File) Close() error {
	var err error
	if f.conn != nil {
		err = f.conn.Close()
	}
	if f.pool != nil {
		err = errors.Join(err, f.pool.Close())
	}
	return err
}
