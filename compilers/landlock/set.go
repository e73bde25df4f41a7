package landlock

import (
	"bytes"
	"encoding/json"

	"umwelt/compilers/confine"
)

// Schema names the form of the document.
const Schema = "umwelt.landlock/1"

// Set is a rule set with what belongs to it: what Landlock itself does not hold, the
// runner holds by other means of the kernel.
type Set struct {
	Schema     string `json:"schema"`
	ABI        int    `json:"abi"`     // the least version of Landlock that has all the rights named here
	Workdir    Text   `json:"workdir"` // the project's root, where the command starts
	SearchPath Text   `json:"search_path"`
	// Handled is what is forbidden unless a rule allows it.
	Handled Handled `json:"handled"`
	Rules   []Rule  `json:"rules"`
	// Execute, where it is there, lists the only programs that may be run.
	Execute *[]Text   `json:"execute,omitempty"`
	Private []Private `json:"private"`
	Network Network   `json:"network"`
	Pass    []Text    `json:"env"` // variables that pass
	Fixed   []Text    `json:"set"` // variables whose value the policy fixes
	Limits  Limits    `json:"limits"`
}

// Handled names the rights and scopes that the rule set takes away.
type Handled struct {
	Files   []string `json:"fs"`
	Network []string `json:"net"`
	Scoped  []string `json:"scoped"`
}

// Rule allows access from a path down. Project says that the path lies in the project, so
// that no symbolic link may lead to it; Optional that it may be missing.
type Rule struct {
	Path     Text     `json:"path"`
	Access   []string `json:"access"`
	Project  bool     `json:"project,omitempty"`
	Optional bool     `json:"optional,omitempty"`
}

// Private is a filesystem of the sandbox's own: "tmpfs", "proc" or "devpts". Size is in
// bytes and 0 for no limit. The access holds for it alone: where it cannot be mounted,
// nothing at its path is allowed.
type Private struct {
	Path   Text     `json:"path"`
	Type   string   `json:"type"`
	Size   int64    `json:"size,omitempty"`
	Access []string `json:"access"`
}

// The modes of a network.
const (
	Closed = "closed" // nothing outside can be reached
	Ports  = "ports"  // TCP connections to some ports, of any host
	Open   = "open"
)

// Network says what may be reached.
type Network struct {
	Mode    string `json:"mode"`
	Connect []int  `json:"connect_tcp,omitempty"`
}

// Limits are resource limits; what is nil is not limited.
type Limits struct {
	Memory       *int64   `json:"memory_bytes,omitempty"`
	WallTime     *int64   `json:"wall_time_ns,omitempty"`
	CPUTime      *int64   `json:"cpu_time_ns,omitempty"`
	MaxFDs       *int64   `json:"max_fds,omitempty"`
	MaxProcesses *int64   `json:"max_processes,omitempty"`
	Tmpfs        *int64   `json:"tmpfs_bytes,omitempty"`
	Disk         *int64   `json:"disk_bytes,omitempty"`
	CPU          *float64 `json:"cpu,omitempty"`
}

// JSON is the document.
func (s Set) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	// Nothing in a set can fail to marshal.
	_ = e.Encode(s)
	return b.Bytes()
}

// Text is a text of a set, whatever bytes it holds.
type Text = confine.Text
