package landlock

import (
	"slices"
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/confine"
)

// network is the nearest that Landlock comes to the policy without allowing more.
func network(n confine.Network) (Network, []compilers.Note) {
	if n.Open || len(n.Deny) > 0 {
		open, notes := n.AllOrNothing()
		if open {
			return Network{Mode: Open}, notes
		}
		return Network{Mode: Closed}, notes
	}
	var ports []int
	var notes []compilers.Note
	note := func(e confine.Endpoint, why string) {
		notes = append(notes, compilers.Note{Rule: e.By.Rule, Declaration: e.By.Declaration, Level: compilers.Partial, Why: why})
	}
	for _, e := range n.Allow {
		switch protocol := strings.ToLower(e.Protocol); {
		case e.Host != "" || e.CIDR != "":
			note(e, "Landlock knows ports and no hosts, so this endpoint stays closed")
		case len(e.Less) > 0:
			note(e, "Landlock cannot keep single hosts out, so this endpoint stays closed")
		case e.Port == 0:
			note(e, "Landlock opens single ports, so this endpoint stays closed")
		case protocol == "":
			note(e, "Landlock opens TCP alone, so other protocols on this port stay closed")
			ports = append(ports, e.Port)
		case protocol == "tcp":
			ports = append(ports, e.Port)
		default:
			note(e, "Landlock opens TCP alone, so this endpoint stays closed")
		}
	}
	if ports == nil {
		return Network{Mode: Closed}, notes
	}
	slices.Sort(ports)
	return Network{Mode: Ports, Connect: slices.Compact(ports)}, notes
}

func limits(l confine.Limits) Limits {
	return Limits{
		Memory: l.Memory, WallTime: l.WallTime, CPUTime: l.CPUTime, MaxFDs: l.MaxFDs, MaxProcesses: l.MaxProcesses,
		Tmpfs: l.Tmpfs, Disk: l.Disk, CPU: l.CPU,
	}
}
