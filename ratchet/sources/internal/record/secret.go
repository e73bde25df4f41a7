package record

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Redacted stands where a secret stood. It holds no character that a pattern gives a
// meaning to, so what it stands in never matches more than it did.
const Redacted = "REDACTED"

// named are the words that a name of a secret ends with, as in --api-key or GH_TOKEN.
const named = `(?:token|secret|passw(?:or)?d|passphrase|(?:api|access|private|secret|auth|account|master|signing|encryption|session)[-_]?key|credentials?|signature)`

var secrets = []struct {
	find *regexp.Regexp
	with string
}{
	// The credentials of a URL.
	{regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^/\s@'"]+@`), "${1}" + Redacted + "@"},
	// A header.
	{regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|cookie|set-cookie|x-api-key|private-token)(\s*:\s*)[^'"\n]+`), "${1}${2}" + Redacted},
	// A value that stands with its name: an option, a variable, a query's part, JSON.
	{regexp.MustCompile(`(?i)([\w-]*` + named + `["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s&;|,"']+)`), "${1}" + Redacted},
	// An option whose value is the next word.
	{regexp.MustCompile(`(?i)(^|\s)(--?[\w-]*` + named + `\s+)("[^"]*"|'[^']*'|[^\s;|&-]\S*)`), "${1}${2}" + Redacted},
	// Options of programs that take a secret under a name of one letter.
	{regexp.MustCompile(`(\b(?:curl\b[^;|&\n]*?\s(?:-u|--user|--proxy-user)|sshpass\b[^;|&\n]*?\s-p|redis-cli\b[^;|&\n]*?\s-a|unzip\b[^;|&\n]*?\s-P|ldap\w+\b[^;|&\n]*?\s-w)(?:\s*=\s*|\s*))("[^"]*"|'[^']*'|[^\s;|&]+)`), "${1}" + Redacted},
	{regexp.MustCompile(`(\b(?:mysql|mariadb|7z)[\w-]*\s(?:[^;|&\n]*?\s)?-p)("[^"]*"|'[^']*'|[^\s;|&]+)`), "${1}" + Redacted},
	// What is handed to a program that reads a secret.
	{regexp.MustCompile(`(\b(?:echo|printf)\s+(?:-\w+\s+)*)("[^"]*"|'[^']*'|[^\s;|&]+)(\s*\|[^|;&\n]*(?:--password-stdin|--with-token|\bsudo\s+-S|\bchpasswd|\bpasswd\s+--stdin))`), "${1}" + Redacted + "${3}"},
	// Forms of well-known keys.
	{regexp.MustCompile(`\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|npm_\w{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)`), Redacted},
	{regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[\w.~+/-]{8,}=*`), "${1}${2}" + Redacted},
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*`), Redacted},
}

// assignment is a variable that is set before a command.
var assignment = regexp.MustCompile(`^([A-Za-z_]\w*=).+$`)

// settings are the variables that are set where a command begins in a shell's text.
var (
	settings = regexp.MustCompile("(?:^|[;&|(`\n]|\\b(?:env|export|sudo)\\s)\\s*(?:-\\S+\\s+)*(?:[A-Za-z_]\\w*=(?:\"[^\"]*\"|'[^']*'|[^\\s;&|()\"'])*\\s*)+")
	setting  = regexp.MustCompile(`([A-Za-z_]\w*=)(?:"[^"]*"|'[^']*'|[^\s;&|()"']+)+`)
)

// Script is Redact for the text of a shell: it takes out every value of a variable that is
// set before a command, too.
func Script(s string) string {
	return Redact(settings.ReplaceAllStringFunc(s, func(m string) string { return setting.ReplaceAllString(m, "${1}"+Redacted) }))
}

// option is an option that takes a secret as its next word.
var option = regexp.MustCompile(`(?i)^--?[\w-]*` + named + `$`)

// letters are the options of one letter that take a secret, by program.
var letters = []struct{ program, options *regexp.Regexp }{
	{regexp.MustCompile(`^curl$`), regexp.MustCompile(`^(-u|--user=?|--proxy-user=?)`)},
	{regexp.MustCompile(`^sshpass$`), regexp.MustCompile(`^-p`)},
	{regexp.MustCompile(`^redis-cli$`), regexp.MustCompile(`^-a`)},
	{regexp.MustCompile(`^unzip$`), regexp.MustCompile(`^-P`)},
	{regexp.MustCompile(`^ldap`), regexp.MustCompile(`^-w`)},
	{regexp.MustCompile(`^(mysql|mariadb|7z)`), regexp.MustCompile(`^-p`)},
}

// handers are programs whose words begin with another program.
var handers = []string{"sudo", "doas", "nohup", "time", "exec", "command", "nice", "timeout", "setsid", "stdbuf"}

// lettered is a word of a program without the secret that such an option holds; next says
// that the word after it is one.
func lettered(program, word string) (out string, next, ok bool) {
	program = program[strings.LastIndexByte(program, '/')+1:]
	for _, l := range letters {
		option := l.options.FindString(word)
		switch {
		case option == "" || !l.program.MatchString(program):
		case option != word:
			return option + Redacted, false, true
		default:
			// A bare -p of these asks for the password.
			return word, !strings.HasPrefix(program, "my") && !strings.HasPrefix(program, "maria") && program[0] != '7', true
		}
	}
	return "", false, false
}

// Redact takes secrets out of a text: values that stand beside a name that tells a
// secret, credentials of URLs and headers, and keys of well-known forms.
func Redact(s string) string {
	for _, p := range secrets {
		s = p.find.ReplaceAllString(s, p.with)
	}
	return s
}

// Command is the words of a command as a JSON list, without secrets: those that Redact
// knows, and every value of a variable that is set before a program or for env, also in a
// word that is itself the text of a shell.
func Command(words []string) string {
	out := make([]string, len(words))
	setting, next := true, false
	program := ""
	for i, w := range words {
		w = strings.ToValidUTF8(w, "\uFFFD")
		if text, then, ok := lettered(program, w); ok && !next {
			out[i], next, setting = text, then, false
			continue
		}
		switch {
		case next:
			out[i], next = Redacted, false
			continue
		case setting && assignment.MatchString(w):
			out[i] = assignment.ReplaceAllString(w, "${1}"+Redacted)
			continue
		case option.MatchString(w):
			next = true
		}
		switch {
		case w == "env" || strings.HasSuffix(w, "/env"):
			setting = true
		case !strings.HasPrefix(w, "-"):
			setting = false
			if program == "" || slices.Contains(handers, program) {
				program = w[strings.LastIndexByte(w, '/')+1:]
			}
		}
		if out[i] = Redact(w); strings.ContainsAny(w, " \n") {
			out[i] = Script(w)
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "" // strings never fail
	}
	return string(text)
}
