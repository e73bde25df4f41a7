// Package otel reads OpenTelemetry spans of agent frameworks as JSON: what the collector's
// file exporter writes, OTLP requests, and plain spans one after the other or in a list.
package otel

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// Source is otel://.
var Source = ratchet.Source{
	Name:    "otel",
	Summary: "OpenTelemetry spans of an agent framework, as JSON; - is the standard input",
	Example: "otel://traces.json",
	Read:    read,
}

// containers are what spans lie in, in both forms that the protocol's JSON may take.
var containers = []string{"resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans",
	"resource_spans", "scope_spans", "instrumentation_library_spans"}

func read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	f, err := record.Open(in.Name)
	if err != nil {
		return ratchet.Tally{}, err
	}
	defer f.Close()
	sink := &record.Sink{File: in.Name, Emit: emit}
	err = record.Walk(f, sink, containers, func(line int64, o record.Object, inner bool) error {
		if inner {
			return nil // what holds spans is none
		}
		s, ok := parseSpan(o)
		if !ok {
			if !o.Has("resource", "scope", "schemaUrl", "resourceLogs", "resourceMetrics") {
				sink.Miss(ratchet.Unknown, "an object that is no span", line)
			}
			return nil
		}
		return s.observe(sink, line)
	})
	return sink.Tally, err
}

// maxAttributes bounds what is read of one span.
const maxAttributes = 4096

// span is what of a span is read.
type span struct {
	client     bool // its kind says that it called somebody
	server     bool
	failed     bool
	reason     string
	time       time.Time
	attributes map[string]value
	broken     bool // the attributes are not of the form, or one stands twice
	cut        bool // attributes were left out of it
}

// value is the value of an attribute: a text, or a list of them.
type value struct {
	text string // of a number or a truth value, its JSON; of an object, too
	list []string
}

func parseSpan(o record.Object) (span, bool) {
	if !o.Has("attributes", "Attributes") && !(o.Has("name", "Name") && o.Has("spanId", "span_id", "traceId", "trace_id", "context", "startTimeUnixNano", "SpanContext")) {
		return span{}, false
	}
	s := span{attributes: map[string]value{}}
	if n, ok := o.Int("droppedAttributesCount", "dropped_attributes_count", "DroppedAttributes"); ok && n > 0 {
		s.cut = true
	}
	switch kind := strings.ToUpper(string(o["kind"]) + string(o["SpanKind"])); {
	case kind == "3" || strings.HasSuffix(kind, `CLIENT"`):
		s.client = true
	case kind == "2" || strings.HasSuffix(kind, `SERVER"`) || kind == "5" || strings.HasSuffix(kind, `CONSUMER"`):
		s.server = true
	}
	if nanos, ok := o.Int("startTimeUnixNano", "start_time_unix_nano"); ok && nanos > 0 {
		s.time = time.Unix(0, nanos).UTC()
	} else {
		s.time = o.Time("start_time", "startTime", "start", "StartTime")
	}
	if list, ok := o.List("attributes", "Attributes"); ok {
		for _, raw := range list {
			kv, ok := record.ParseObject(raw)
			key := kv.Text("key", "Key")
			v, _ := kv.Object("value", "Value")
			if !ok || key == "" || len(s.attributes) >= maxAttributes {
				s.broken = true
				continue
			}
			if kv.Has("Key") { // as the SDK for Go prints spans
				s.set(key, plainValue(v["Value"]))
				continue
			}
			s.set(key, anyValue(v, 0))
		}
	} else if flat, ok := o.Object("attributes"); ok {
		for key, raw := range flat {
			s.set(key, plainValue(raw))
		}
	} else if o.Has("attributes", "Attributes") {
		s.broken = true
	}
	status, _ := o.Object("status", "Status")
	code := strings.ToUpper(strings.Trim(string(status["code"])+string(status["status_code"])+string(status["Code"]), `"`))
	s.failed = code == "2" || code == "ERROR" || code == "STATUS_CODE_ERROR" || s.text("error.type") != ""
	if s.failed {
		s.reason = record.Clip(record.Redact(strings.ToValidUTF8(s.text("error.type"), "\uFFFD")))
		if message := status.Text("message", "description", "Description"); s.reason == "" {
			s.reason = record.Clip(record.Redact(message))
		}
	}
	return s, true
}

func (s *span) set(key string, v value) {
	if _, twice := s.attributes[key]; twice {
		s.broken = true
	}
	s.attributes[key] = v
}

// anyValue reads a value of the protocol: an object with one member that names its kind.
func anyValue(v record.Object, depth int) value {
	switch {
	case v.Has("stringValue", "string_value"):
		return value{text: v.Text("stringValue", "string_value")}
	case v.Has("intValue", "int_value"):
		n, _ := v.Int("intValue", "int_value")
		return value{text: strconv.FormatInt(n, 10)}
	case v.Has("boolValue"):
		return value{text: string(v["boolValue"])}
	case v.Has("bool_value"):
		return value{text: string(v["bool_value"])}
	case v.Has("arrayValue", "array_value"):
		array, _ := v.Object("arrayValue", "array_value")
		list, _ := array.List("values")
		out := value{list: []string{}}
		for _, raw := range list {
			o, _ := record.ParseObject(raw)
			out.list = append(out.list, o.Text("stringValue", "string_value"))
		}
		return out
	case v.Has("kvlistValue", "kvlist_value") && depth < 8:
		// An object of texts is written as the JSON that other frameworks write.
		kvs, _ := v.Object("kvlistValue", "kvlist_value")
		list, _ := kvs.List("values")
		flat := map[string]any{}
		for _, raw := range list {
			kv, _ := record.ParseObject(raw)
			inner, _ := kv.Object("value")
			x := anyValue(inner, depth+1)
			if x.list != nil {
				flat[kv.Text("key")] = x.list
			} else if nested := []byte(x.text); inner.Has("kvlistValue", "kvlist_value") && json.Valid(nested) {
				flat[kv.Text("key")] = json.RawMessage(nested)
			} else {
				flat[kv.Text("key")] = x.text
			}
		}
		text, _ := json.Marshal(flat) // texts and valid JSON
		return value{text: string(text)}
	}
	return value{}
}

func plainValue(raw json.RawMessage) value {
	o := record.Object{"v": raw}
	if list, ok := o.Texts("v"); ok {
		return value{list: list}
	}
	if s := o.Text("v"); s != "" || string(raw) == `""` || string(raw) == "null" {
		return value{text: s}
	}
	return value{text: string(raw)}
}

// text is the first of the names whose attribute is a text that is not empty.
func (s *span) text(names ...string) string {
	for _, n := range names {
		if v := s.attributes[n].text; v != "" {
			return v
		}
	}
	return ""
}
