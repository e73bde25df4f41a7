package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Limits bound one query. Zero is no bound.
type Limits struct {
	Rows int
	Time time.Duration
}

// maxResult bounds how many bytes of texts and blobs one result may hold.
const maxResult = 256 << 20

// Result is what a query gives. The cells are nil, int64, float64, string or []byte.
type Result struct {
	Columns []string
	Rows    [][]any
	More    bool // there are more rows than Limits.Rows
}

// ErrTime says that a query took longer than it may, and ErrWrites that it is none.
var (
	ErrTime   = errors.New("the query takes too long")
	ErrWrites = errors.New("the statement does more than read")
)

// Query runs one statement that reads: SELECT, VALUES, WITH or EXPLAIN.
func (f *File) Query(ctx context.Context, statement string, limits Limits) (*Result, error) {
	if err := oneQuery(statement); err != nil {
		return nil, err
	}
	if limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limits.Time, ErrTime)
		defer cancel()
	}
	result, err := f.query(ctx, statement, limits)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	var own *driver.Error
	if errors.As(err, &own) && own.Code() == lib.SQLITE_AUTH {
		return nil, ErrWrites
	}
	return result, err
}

func (f *File) query(ctx context.Context, statement string, limits Limits) (*Result, error) {
	rows, err := f.conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &Result{}
	if out.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	size := 0
	for rows.Next() {
		if limits.Rows > 0 && len(out.Rows) == limits.Rows {
			out.More = true
			return out, nil
		}
		cells := make([]any, len(out.Columns))
		to := make([]any, len(cells))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for _, c := range cells {
			switch c := c.(type) {
			case string:
				size += len(c)
			case []byte:
				size += len(c)
			}
			size += 16
		}
		if size > maxResult {
			return nil, fmt.Errorf("the result is larger than %d bytes", maxResult)
		}
		out.Rows = append(out.Rows, cells)
	}
	return out, rows.Err()
}

// oneQuery refuses what is not one statement that begins like a query. That it only reads
// is up to the connection; this is so that nothing is passed over in silence.
func oneQuery(statement string) error {
	rest := skipBlank(statement)
	word := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }); i >= 0 {
		word = rest[:i]
	}
	switch strings.ToUpper(word) {
	case "SELECT", "VALUES", "WITH", "EXPLAIN":
	case "":
		return errors.New("there is no query")
	default:
		return fmt.Errorf("a query begins with SELECT, VALUES, WITH or EXPLAIN, not %s", strings.ToUpper(word))
	}
	end := statementEnd(rest)
	if skipBlank(strings.TrimLeft(rest[end:], "; \t\r\n\f")) != "" {
		return errors.New("one statement is taken, and here are more")
	}
	if strings.ContainsRune(statement, 0) {
		return errors.New("a query holds no NUL")
	}
	return nil
}

// skipBlank leaves out white space and comments.
func skipBlank(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n\f")
		switch {
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s[2:], "*/")
		default:
			return s
		}
	}
}

// statementEnd is where the semicolon after the first statement stands, or the end.
func statementEnd(s string) int {
	for i := 0; i < len(s); i++ {
		closing := ""
		switch c := s[i]; {
		case c == ';':
			return i
		case c == '\'' || c == '"' || c == '`':
			closing = string(c)
		case c == '[':
			closing = "]"
		case strings.HasPrefix(s[i:], "--"):
			closing = "\n"
		case strings.HasPrefix(s[i:], "/*"):
			closing = "*/"
			i++
		default:
			continue
		}
		end := strings.Index(s[i+1:], closing)
		if end < 0 {
			return len(s)
		}
		i += end + len(closing)
	}
	return len(s)
}
