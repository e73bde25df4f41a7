package narrow

import "umwelt/ratchet"

// Schema names the form of a Report.
const Schema = "umwelt.ratchet/1"

// Report says where a proposal comes from. Every list is in a fixed order.
type Report struct {
	Schema       string `json:"schema"`
	Fresh        bool   `json:"fresh"`
	Runs         int    `json:"runs"`
	Observations int64  `json:"observations"`
	Facts        int    `json:"facts"`

	Rules        []RuleReport   `json:"rules"`
	Removed      []Unused       `json:"removed,omitempty"`      // granting declarations that nothing needed
	Kept         []Unused       `json:"kept,omitempty"`         // what is kept though nothing needed it, with the reason
	Refused      []Refusal      `json:"refused,omitempty"`      // what was denied or failed
	NotAllowed   []Left         `json:"not_allowed,omitempty"`  // observed, and the current view does not allow it
	Unexpressed  []Left         `json:"unexpressed,omitempty"`  // observed, and no rule can say it
	LeftOut      []Left         `json:"left_out,omitempty"`     // needed by too few runs
	Missing      []Left         `json:"missing,omitempty"`      // granted, and the world does not have it
	Outside      []Outside      `json:"outside,omitempty"`      // paths outside the project
	Disagreement []Disagreement `json:"disagreement,omitempty"` // sources that do not say the same
	Made         []string       `json:"made,omitempty"`         // directories that the runs made, taken as given
	Programs     []Programs     `json:"programs,omitempty"`     // programs that were run and that no rule names
	OtherContext int64          `json:"other_context"`          // observations made in another context
	Unplaced     []Count        `json:"unplaced,omitempty"`     // observations of what the vocabulary has not
	Notes        []string       `json:"notes,omitempty"`        // other plain sentences
	Sources      []SourceReport `json:"sources,omitempty"`
	Partial      bool           `json:"partial"` // a source ends before its end, so more may be needed
	Table        []Row          `json:"table"`
	Check        Check          `json:"check"`
}

// RuleReport is the evidence of one rule of the proposal.
type RuleReport struct {
	Text     string          `json:"text"` // the selector and what it grants
	Line     int             `json:"line"` // where it stands in the proposal
	Step     Step            `json:"step,omitempty"`
	Origin   string          `json:"origin"` // "new", "kept" or "tightened"
	Verbs    []Count         `json:"verbs,omitempty"`
	Entities int             `json:"entities"` // of how many
	Runs     int             `json:"runs"`
	Admits   int             `json:"admits"` // known entities that it gives this and that were not observed with it
	Evidence []ratchet.Place `json:"evidence,omitempty"`
}

// Count is a number of something named.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Unused is a declaration of the current view.
type Unused struct {
	Text string `json:"text"`
	At   string `json:"at"`
	Why  string `json:"why,omitempty"`
}

// Refusal is something that was tried and was not done.
type Refusal struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Outcome  ratchet.Outcome `json:"outcome"`
	Reason   string          `json:"reason,omitempty"`
	Verbs    []Count         `json:"verbs"`
	Evidence []ratchet.Place `json:"evidence,omitempty"`
}

// Left is something that was observed and that the proposal does not grant, or does and
// without effect.
type Left struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Verbs    []Count         `json:"verbs,omitempty"`
	Runs     int             `json:"runs,omitempty"`
	Why      string          `json:"why"`
	Evidence []ratchet.Place `json:"evidence,omitempty"`
}

// Outside is what was done in a named place outside the project.
type Outside struct {
	Group  Group    `json:"group"`
	Paths  int      `json:"paths"`
	Verbs  []Count  `json:"verbs"`
	Wrote  bool     `json:"wrote"`
	Advice string   `json:"advice"`
	First  []string `json:"first"` // the first few paths
}

// Disagreement is one fact of which the sources say different things; the looser is kept.
type Disagreement struct {
	Type  string  `json:"type"`
	ID    string  `json:"id"`
	Of    string  `json:"of"`
	Said  []Count `json:"said"`
	Taken string  `json:"taken"`
}

// Programs are programs that were run.
type Programs struct {
	Group Group    `json:"group"`
	Count int      `json:"count"`
	First []string `json:"first"`
}

// SourceReport is what a source says of what it read.
type SourceReport struct {
	Source       string `json:"source"`
	Run          int    `json:"run"`
	Records      int64  `json:"records"`
	Observations int64  `json:"observations"`
	Gaps         []Gap  `json:"gaps,omitempty"`
	Partial      bool   `json:"partial"`
	Why          string `json:"why,omitempty"`
}

// Gap is a count of records that gave no observation.
type Gap struct {
	Kind  ratchet.GapKind `json:"kind"`
	What  string          `json:"what"`
	Count int64           `json:"count"`
	First []ratchet.Place `json:"first,omitempty"`
}

// Row is one line of the table of before and after. Before is "" without a current view.
type Row struct {
	What   string `json:"what"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// Check is what was checked of the proposal before it was returned.
type Check struct {
	Sound     bool `json:"sound"`               // every kept observation that can be expressed is allowed
	Monotone  bool `json:"monotone"`            // with a current view: nothing is allowed that it does not allow
	Needs     int  `json:"needs"`               // how many permissions were checked
	Entities  int  `json:"entities"`            // how many entities were compared with the current view
	Unmounted int  `json:"unmounted,omitempty"` // allowed by the rules, and no mount can give it
}
