package record

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// asks are the arguments that say what is asked of a tool, in the order in which they are
// looked for; wraps are what arguments may lie in.
var (
	asks  = []string{"command", "cmd", "script", "file_path", "filepath", "path", "filename", "url", "uri"}
	wraps = []string{"inputs", "kwargs", "input", "arguments", "args", "params"}
)

// Asked is what was asked of a tool, as one text without secrets: a text that is no JSON
// as it stands, and of an object the first argument that is a command, a path or an
// address. Of other arguments nothing is told. It is false where the text is too long to
// be kept, which is then not told either.
func Asked(arguments string) (text string, ok bool) {
	return bounded(asked(arguments))
}

// Said is a command that was asked for, as one text without secrets. It is false where the
// text is too long to be kept, which is then not told.
func Said(command string) (text string, ok bool) {
	return bounded(Script(strings.ToValidUTF8(command, "\uFFFD")))
}

func bounded(text string) (string, bool) {
	if len(text) > maxCall {
		return "", false
	}
	return text, true
}

// groups is how a shell's text begins that could be taken for JSON: a test or a group.
var groups = regexp.MustCompile(`^(?:\[\[?|\{)\s+[^"\s{}\[\]]`)

// maxCall bounds the text of one call.
const maxCall = 64 << 10

func asked(arguments string) string {
	text := strings.TrimSpace(arguments)
	for range 4 {
		if text == "" || text[0] != '{' && text[0] != '[' && text[0] != '"' {
			return Script(strings.ToValidUTF8(text, "\uFFFD"))
		}
		if groups.MatchString(text) && !json.Valid([]byte(text)) {
			return Script(strings.ToValidUTF8(text, "\uFFFD"))
		}
		o, ok := ParseObject([]byte(text))
		if !ok {
			return ""
		}
		if s := o.Text(asks...); s != "" {
			return Script(s)
		}
		if words, ok := o.Texts("command", "cmd"); ok {
			return Command(words)
		}
		i := slices.IndexFunc(wraps, func(w string) bool { _, ok := o.Object(w); return ok })
		if i < 0 {
			return ""
		}
		text = o.Text(wraps[i])
		if text == "" {
			text = string(o[wraps[i]])
		}
	}
	return ""
}
