package lint

import (
	"net/url"
	"path"
	"strings"

	"umwelt/diag"
)

// SARIF is a log of the Static Analysis Results Interchange Format, version 2.1.0. It is
// made to be written as JSON.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID       string       `json:"id"`
	Short    sarifText    `json:"shortDescription"`
	Help     sarifText    `json:"help"`
	Defaults sarifDefault `json:"defaultConfiguration"`
}

type sarifDefault struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations,omitempty"`
	Related      []sarifLocation    `json:"relatedLocations,omitempty"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Fixes        []sarifFix         `json:"fixes,omitempty"`
}

type sarifLocation struct {
	ID       int           `json:"id,omitempty"`
	Message  *sarifText    `json:"message,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int32  `json:"startLine,omitempty"`
	StartColumn int32  `json:"startColumn,omitempty"`
	EndLine     int32  `json:"endLine,omitempty"`
	EndColumn   int32  `json:"endColumn,omitempty"`
	ByteOffset  *int32 `json:"byteOffset,omitempty"`
	ByteLength  *int32 `json:"byteLength,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifFix struct {
	Description sarifText     `json:"description"`
	Changes     []sarifChange `json:"artifactChanges"`
}

type sarifChange struct {
	Artifact     sarifArtifact      `json:"artifactLocation"`
	Replacements []sarifReplacement `json:"replacements"`
}

type sarifReplacement struct {
	Deleted  sarifRegion `json:"deletedRegion"`
	Inserted *sarifText  `json:"insertedContent,omitempty"`
}

// ToSARIF writes findings as a log. Those that a comment silences are in it as suppressed
// results. version is the tool's.
func ToSARIF(found []Finding, detectors []Detector, version string) *SARIF {
	driver := sarifDriver{Name: "umwelt", Version: version, Rules: []sarifRule{}}
	index := map[diag.Code]int{}
	for i, d := range detectors {
		index[diag.Code(d.Name)] = i
		driver.Rules = append(driver.Rules, sarifRule{
			ID: d.Name, Short: sarifText{d.Summary}, Help: sarifText{"docs/lint/" + d.Name + ".md says what it means and how to mend it."}, Defaults: sarifDefault{d.Severity.String()},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	for _, x := range found {
		r := sarifResult{RuleID: string(x.Code), RuleIndex: index[x.Code], Level: x.Severity.String(), Message: sarifText{sentence(x)}}
		if l := location(x.Span); l != nil {
			r.Locations = []sarifLocation{*l}
		}
		for _, also := range x.Related {
			if l := location(also.Span); l != nil {
				l.ID, l.Message = len(r.Related)+1, &sarifText{diag.Escape(also.Message)}
				r.Related = append(r.Related, *l)
			}
		}
		if x.Silenced != "" {
			r.Suppressions = []sarifSuppression{{"inSource", diag.Escape(x.Silenced)}}
		}
		for _, e := range x.Fix {
			from, length := e.At.Start.Offset, e.At.End.Offset-e.At.Start.Offset
			replace := sarifReplacement{Deleted: sarifRegion{ByteOffset: &from, ByteLength: &length}}
			if e.Text != "" {
				replace.Inserted = &sarifText{e.Text}
			}
			r.Fixes = append(r.Fixes, sarifFix{sarifText{diag.Escape(x.Hint)}, []sarifChange{{sarifArtifact{uri(e.At.File())}, []sarifReplacement{replace}}}})
		}
		run.Results = append(run.Results, r)
	}
	return &SARIF{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// sentence is message and hint as plain text of SARIF, in which braces mean something.
func sentence(x Finding) string {
	text := diag.Escape(x.Message) + "."
	if x.Hint != "" {
		text += " Hint: " + diag.Escape(x.Hint) + "."
	}
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
}

func location(at diag.Span) *sarifLocation {
	if at.Source == nil {
		return nil
	}
	l := &sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri(at.File())}}}
	if at.Start.IsValid() {
		l.Physical.Region = &sarifRegion{StartLine: at.Start.Line, StartColumn: at.Start.Column, EndLine: at.End.Line, EndColumn: at.End.Column}
	}
	return l
}

// uri is a file name as a reference, relative unless the name is absolute.
func uri(name string) string {
	u := url.URL{Path: path.Clean(name)}
	if path.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
