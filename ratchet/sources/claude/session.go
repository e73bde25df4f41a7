package claude

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// session is what is remembered while transcripts are read.
type session struct {
	sink    record.Sink
	given   string // the directory that the caller knows
	dir     string // the one that holds where an entry does not say; "" for unknown
	entries int64  // lines that were understood as entries
	waiting waiting
	seen    remembered
}

func newSession(dir string, emit func(ratchet.Observation) error) *session {
	return &session{sink: record.Sink{Emit: emit}, given: dir, waiting: waiting{calls: map[string]*call{}}, seen: remembered{set: map[string]bool{}}}
}

// call is a tool call whose result has not come yet.
type call struct {
	id, tool string
	text     string // the call as one text
	long     bool   // it is too long to be kept
	input    input
	dir      string
	said     bool // the entry itself said the directory
	time     time.Time
	agent    string
	model    string
	place    ratchet.Place
}

// silent are the kinds of entries that say nothing of tools.
var silent = strings.Fields(`summary file-history-snapshot queue-operation progress attachment permission-mode last-prompt ai-title
	custom-title tag agent-name agent-color pr-link mode stream_event rate_limit_event control_request control_response control_cancel_request
	keep_alive tool_progress tool_use_summary auth_status prompt_suggestion worktree-state content-replacement started`)

// entry takes one line in.
func (s *session) entry(line int64, e record.Object) error {
	kind := e.Text("type")
	switch {
	case kind == "assistant", kind == "user":
		if !s.known(e) {
			return s.message(line, e, kind)
		}
	case kind == "system":
		s.entries++
		if e.Text("subtype") == "init" {
			s.dir = e.Text("cwd")
		}
	case kind == "result":
		s.entries++
		return s.refusals(e)
	case slices.Contains(silent, kind):
		s.entries++
	default:
		s.sink.Miss(ratchet.Unknown, "an entry of the type "+record.Clip(kind), line)
	}
	return nil
}

// known reports whether an entry was read before: a session that is resumed repeats those
// of the one before it.
func (s *session) known(e record.Object) bool {
	s.entries++
	id := e.Text("uuid")
	return id != "" && !s.seen.add("entry "+id)
}

// words are the parts of messages that ask no tool for anything.
var words = strings.Fields("text thinking redacted_thinking image document")

func (s *session) message(line int64, e record.Object, kind string) error {
	message, ok := e.Object("message")
	if !ok {
		s.sink.Miss(ratchet.Broken, "an entry without a message", line)
		return nil
	}
	blocks, ok := message.List("content")
	if !ok {
		return nil // a message that is only text
	}
	for _, raw := range blocks {
		block, ok := record.ParseObject(raw)
		if !ok {
			s.sink.Miss(ratchet.Broken, "a part of a message that is no JSON object", line)
			continue
		}
		var err error
		switch t := block.Text("type"); {
		case t == "tool_use" && kind == "assistant":
			err = s.asked(line, e, message, block)
		case t == "tool_result" && kind == "user":
			err = s.answered(line, e, block)
		case !slices.Contains(words, t):
			s.sink.Miss(ratchet.Unknown, "a part of a message of the type "+record.Clip(t), line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// asked takes a tool call in, which waits for its result.
func (s *session) asked(line int64, e, message, block record.Object) error {
	id, tool := block.Text("id"), block.Text("name")
	if tool == "" {
		s.sink.Miss(ratchet.Broken, "a tool call without a name", line)
		return nil
	}
	if id != "" && !s.seen.add("call "+id) {
		return nil
	}
	c := &call{id: id, tool: tool, time: e.Time("timestamp"), agent: agentOf(e), model: message.Text("model"), place: ratchet.Place{File: s.sink.File, Line: line}}
	if c.dir = e.Text("cwd"); c.dir != "" {
		c.said = true
	} else {
		c.dir = s.dir
	}
	in, ok := block.Object("input")
	if !ok && block.Has("input") {
		s.sink.Miss(ratchet.Broken, "the input of a tool call that is no JSON object", line)
	}
	c.input = readInput(tool, in)
	if c.text = c.input.call; len(c.text) > mostCall {
		c.text, c.input, c.long = "", input{}, true
	}
	if id == "" {
		s.sink.Miss(ratchet.Broken, "a tool call without an id", line)
		return nil
	}
	if old := s.waiting.add(c); old != nil {
		s.lost(old)
	}
	return nil
}

// mostCall bounds the text of a call that is kept.
const mostCall = 64 << 10

// answered matches a result to its call.
func (s *session) answered(line int64, e, block record.Object) error {
	id := block.Text("tool_use_id")
	c := s.waiting.take(id)
	if c == nil {
		if s.seen.add("result " + id) {
			s.sink.Miss(ratchet.Unresolved, "a result without its call", line)
		}
		return nil
	}
	s.seen.add("result " + id)
	return s.tell(c, outcomeOf(e, block))
}

// refusals takes in what a stream says at its end of the calls that were not permitted.
func (s *session) refusals(e record.Object) error {
	list, _ := e.List("permission_denials")
	for _, raw := range list {
		d, _ := record.ParseObject(raw)
		if c := s.waiting.take(d.Text("tool_use_id")); c != nil {
			if err := s.tell(c, result{outcome: ratchet.Denied, reason: notPermitted}); err != nil {
				return err
			}
		}
	}
	return nil
}

// end counts the calls that nothing came of.
func (s *session) end() {
	for _, id := range s.waiting.order {
		if c := s.waiting.calls[id]; c != nil {
			s.lost(c)
		}
	}
}

func (s *session) lost(c *call) {
	s.sink.Tally.Miss(ratchet.Truncated, record.Clip("a call of "+c.tool+" without its result"), c.place)
	s.sink.Tally.Cut("a tool call has no result")
}

// agentOf names the sub-agent that an entry is of; "" for the session itself.
func agentOf(e record.Object) string {
	if id := e.Text("agentId", "parent_tool_use_id"); id != "" {
		return id
	}
	if side, _ := e.Bool("isSidechain"); side {
		return "sidechain"
	}
	return ""
}

// mostWaiting bounds the calls that wait for a result at once.
const mostWaiting = 1000

// waiting are calls without a result, in order.
type waiting struct {
	calls map[string]*call
	order []string
}

// add takes a call in, and gives back the oldest where there are too many.
func (w *waiting) add(c *call) (old *call) {
	if len(w.calls) >= mostWaiting {
		for old == nil {
			old = w.take(w.order[0])
			w.order = w.order[1:]
		}
	}
	if len(w.order) > 4*mostWaiting {
		w.order = slices.DeleteFunc(w.order, func(id string) bool { return w.calls[id] == nil })
	}
	w.calls[c.id] = c
	w.order = append(w.order, c.id)
	return old
}

func (w *waiting) take(id string) *call {
	c := w.calls[id]
	delete(w.calls, id)
	return c
}

// mostRemembered bounds the ids that are remembered.
const mostRemembered = 200_000

// remembered are the ids that were seen last.
type remembered struct {
	set  map[string]bool
	ring []string
	next int
}

// add reports whether an id is new.
func (r *remembered) add(id string) bool {
	if len(id) > 200 || r.set[id] {
		return len(id) > 200
	}
	if len(r.ring) < mostRemembered {
		r.ring = append(r.ring, id)
	} else {
		delete(r.set, r.ring[r.next])
		r.ring[r.next] = id
		r.next = (r.next + 1) % mostRemembered
	}
	r.set[id] = true
	return true
}

// firstText is the beginning of a result's text.
func firstText(block record.Object) string {
	if t := block.Text("content"); t != "" {
		return t
	}
	list, _ := block.List("content")
	for _, raw := range list {
		var part struct{ Type, Text string }
		if json.Unmarshal(raw, &part) == nil && part.Type == "text" {
			return part.Text
		}
	}
	return ""
}
