package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"umwelt/compilers"
)

// file builds the database in memory, always by the same steps, and gives the bytes that
// it would have as a file. They depend on nothing but the rows and the version of SQLite.
func file(db *database, targets []compilers.Info) ([]byte, error) {
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	ctx := context.Background()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	exec := func(statement string) {
		if err == nil {
			if _, err = conn.ExecContext(ctx, statement); err != nil {
				err = fmt.Errorf("%w in:\n%s", err, statement)
			}
		}
	}
	for _, p := range []string{"page_size = 4096", "temp_store = MEMORY", "secure_delete = ON", fmt.Sprintf("application_id = %d", ApplicationID), "user_version = 1"} {
		exec("PRAGMA " + p)
	}
	exec("BEGIN")
	for i := range tables {
		t := &tables[i]
		exec(sqliteDialect.create(t))
		if err == nil {
			err = insert(ctx, conn, t, db.rows[t.name])
		}
	}
	exec(closure)
	for _, x := range indexes {
		exec("CREATE INDEX " + x[0] + "_by_" + x[1] + " ON " + x[0] + " (" + x[1] + ")")
	}
	for _, statement := range existingContext {
		exec(statement)
	}
	for _, v := range append(sqliteDialect.ground(db), sqliteDialect.answers(db, targets)...) {
		exec(v.create())
	}
	exec("COMMIT")
	var bytes []byte
	if err == nil {
		err = conn.Raw(func(c any) (err error) {
			bytes, err = c.(interface{ Serialize() ([]byte, error) }).Serialize()
			return err
		})
	}
	return bytes, err
}

// insert fills a table. It goes by the driver itself, since a world may have many rows.
func insert(ctx context.Context, conn *sql.Conn, t *table, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	return conn.Raw(func(c any) error {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ")
		statement, err := c.(driver.ConnPrepareContext).PrepareContext(ctx, "INSERT INTO "+t.name+" VALUES ("+marks+")")
		if err != nil {
			return err
		}
		defer statement.Close()
		args := make([]driver.NamedValue, len(t.columns))
		for _, r := range rows {
			for i, cell := range r {
				args[i] = driver.NamedValue{Ordinal: i + 1, Value: driverValue(cell)}
			}
			if _, err := statement.(driver.StmtExecContext).ExecContext(ctx, args); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		return nil
	})
}

// driverValue is a cell for the driver. A text that is not UTF-8 is stored as a blob of its
// exact bytes.
func driverValue(cell any) driver.Value {
	switch v := cell.(type) {
	case int:
		return int64(v)
	case []string:
		return jsonList(v)
	case string:
		if !printable(v) {
			return []byte(v)
		}
	}
	return cell
}
