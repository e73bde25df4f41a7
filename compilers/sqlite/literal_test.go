package sqlite

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

// TestListsAreWrittenAsSQLiteDoes holds that a stored list and one that a view makes of the
// same members are the same text.
func TestListsAreWrittenAsSQLiteDoes(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	same := func(t interface{ Fatalf(string, ...any) }, members []string) {
		list := jsonList(members)
		var got string
		err := db.QueryRow("SELECT coalesce((SELECT json_group_array(value) OVER (ORDER BY key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM json_each(?) LIMIT 1), '[]')", list).Scan(&got)
		if err != nil || got != list {
			t.Fatalf("%q: %s is %s to SQLite (%v)", members, list, got, err)
		}
	}
	var all []string
	for c := rune(1); c < 0x120; c++ {
		all = append(all, "a"+string(c)+"b")
	}
	same(t, all)
	same(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.SliceOf(rapid.String().Filter(func(s string) bool { return printable(s) })).Draw(t, "members"))
	})
}
