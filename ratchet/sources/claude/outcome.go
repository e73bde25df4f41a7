package claude

import (
	"strconv"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// result is what came of a call.
type result struct {
	outcome ratchet.Outcome
	reason  string // in words of this program, never in those of the result
	status  string // of a command that was run: its exit status, "" where nobody knows
	created bool   // a file was made that was not there
	started bool   // a command was left running
}

// The reasons of calls that were not made.
const (
	byUser       = "the user refused it"
	notPermitted = "it was not permitted"
	byHook       = "a hook refused it"
)

// refusals are how the texts begin that stand for the result of a call which was refused.
// Where a second text is given, it has to follow somewhere on the first line.
var refusals = []struct{ begins, holds, reason string }{
	{"The user doesn't want to ", "", byUser},
	{"[Request interrupted by user", "", byUser},
	{"Claude requested permissions ", "", notPermitted},
	{"Permission to use ", " denied", notPermitted},
	{"Permission for this action ", " denied", notPermitted},
	{"This command requires approval", "", notPermitted},
	{"This Bash command contains multiple operations", "", notPermitted},
	{"File is in a directory that is denied by your permission settings", "", notPermitted},
	{"PreToolUse:", " hook ", byHook},
	{"Hook PreToolUse:", " denied ", byHook},
	{"Operation blocked by hook", "", byHook},
}

// outcomeOf reads what a result says of its call. Only a result that is marked as an error
// is looked into, and only at its beginning, since what follows may be anything.
func outcomeOf(e, block record.Object) result {
	failed, _ := block.Bool("is_error")
	extra, _ := e.Object("toolUseResult", "tool_use_result")
	if note := e.Text("toolUseResult", "tool_use_result"); strings.TrimPrefix(note, "Error: ") == "User rejected tool use" {
		return result{outcome: ratchet.Denied, reason: byUser}
	}
	for _, o := range []record.Object{e, block, extra} {
		if kind := o.Text("non_execution_kind", "nonExecutionKind"); kind != "" {
			return notRun(kind)
		}
	}
	if !failed {
		return succeeded(extra, firstText(block))
	}
	text := firstText(block)
	text = strings.TrimPrefix(text, "Error: ")
	first, _, _ := strings.Cut(text, "\n")
	for _, r := range refusals {
		if strings.HasPrefix(first, r.begins) && strings.Contains(first[len(r.begins):], r.holds) {
			return result{outcome: ratchet.Denied, reason: r.reason}
		}
	}
	if code, ok := strings.CutPrefix(first, "Exit code "); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(code)); err == nil && n > 0 && n < 256 {
			return result{outcome: ratchet.Allowed, status: strconv.Itoa(n)}
		}
	}
	return result{outcome: ratchet.Failed, reason: "the tool reported an error"}
}

// notRun is the result of a call that the record says was not made.
func notRun(kind string) result {
	switch {
	case strings.Contains(kind, "user"):
		return result{outcome: ratchet.Denied, reason: byUser}
	case strings.Contains(kind, "hook"):
		return result{outcome: ratchet.Denied, reason: byHook}
	case strings.Contains(kind, "permission"), strings.Contains(kind, "classifier"), strings.Contains(kind, "denied"):
		return result{outcome: ratchet.Denied, reason: notPermitted}
	}
	return result{outcome: ratchet.Failed, reason: "it was not made"}
}

func succeeded(extra record.Object, text string) result {
	out := result{outcome: ratchet.Allowed, status: "0"}
	out.created = extra.Text("type") == "create" || strings.HasPrefix(text, "File created successfully")
	if extra.Text("backgroundTaskId", "shellId") != "" || strings.HasPrefix(text, "Command running in background") {
		out.started, out.status = true, ""
	}
	if stopped, _ := extra.Bool("interrupted"); stopped {
		return result{outcome: ratchet.Failed, reason: "it was interrupted"}
	}
	if extra.Has("returnCodeInterpretation") {
		out.status = "" // it is another one than 0, which for this command is no error
	}
	return out
}
