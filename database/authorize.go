package database

import (
	"slices"
	"strings"

	driver "modernc.org/sqlite"
)

// schemaPragmas only tell what tables look like.
var schemaPragmas = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo"}

// authorize lets statements through that read, and nothing else: no other file is attached,
// nothing is written, no setting changes and no code is loaded.
func authorize(action driver.AuthorizerActionCode, arg1, arg2, _, _ string) driver.AuthorizerReturnCode {
	switch action {
	case driver.AuthSelect, driver.AuthRead, driver.AuthRecursive:
		return driver.AuthorizerOK
	case driver.AuthFunction:
		if !strings.EqualFold(arg2, "load_extension") {
			return driver.AuthorizerOK
		}
	case driver.AuthPragma:
		if slices.Contains(schemaPragmas, strings.ToLower(arg1)) {
			return driver.AuthorizerOK
		}
	}
	return driver.AuthorizerDeny
}
