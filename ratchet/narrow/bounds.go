package narrow

import (
	"math"
	"strconv"
	"strings"

	"umwelt/registry"
)

// measures are the names under which a resource is measured, beside the property's own.
var measures = map[string]string{
	"peak-memory": "memory", "max-rss": "memory", "rss": "memory", "wall": "wall-time", "elapsed": "wall-time", "cpu": "cpu-time", "cpu-seconds": "cpu-time",
	"open-files": "max-fds", "fds": "max-fds", "processes": "max-processes", "threads": "max-processes", "max-files": "max-fds",
}

// measured is the property that a measure is of, with the measured amount in the unit in
// which values of the property are counted.
func measured(t *registry.EntityType, f fact) (p *registry.Property, amount float64, ok bool) {
	name := strings.ReplaceAll(strings.ToLower(f.id), "_", "-")
	if p = t.Property(name); p == nil || p.Restrictive != registry.Min || strings.HasPrefix(name, "max-") && t.Property("max-"+name) == nil {
		p = t.Property(measures[name])
	}
	if p == nil || f.more == nil || !f.more.measured || p.Type.Shape != registry.One || p.Restrictive != registry.Min {
		return nil, 0, false
	}
	amount = f.more.max
	switch p.Type.Kind {
	case registry.Duration:
		amount *= 1e6 // it comes in milliseconds
	case registry.Size, registry.Integer, registry.Number:
	default:
		return nil, 0, false
	}
	return p, amount, !math.IsNaN(amount) && !math.IsInf(amount, 0) && amount < 1<<52*1e6
}

func withHeadroom(n, headroom float64) float64 { return n * (1 + max(0, headroom)) }

// scales are the units in which bounds are written, with what each counts.
var (
	sizeScale = []scale{{"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}}
	timeScale = []scale{{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}}
	noScale   = []scale{{"", 1}}
)

type scale struct {
	unit   string
	factor float64
}

// boundText is an amount rounded up to two digits in the unit in which it has two, and never
// beyond the range of the property. A time is rounded up to tens of seconds: what else the
// machine does makes more of a difference than headroom in proportion to a short run.
func boundText(p *registry.Property, n float64) string {
	units := noScale
	switch p.Type.Kind {
	case registry.Size:
		units = sizeScale
	case registry.Duration:
		units = timeScale
	}
	at := units[0]
	for _, u := range units {
		if n >= 10*u.factor {
			at = u
		}
	}
	step := 1.0
	if p.Type.Kind == registry.Duration && n < 600e9 {
		at, step = scale{"s", 1e9}, 10
	}
	whole := max(math.Ceil(n/at.factor), step)
	for whole/step >= 100 {
		step *= 10
	}
	whole = math.Ceil(whole/step) * step
	if p.Type.HasRange && whole*at.factor > p.Type.Max {
		whole = math.Floor(p.Type.Max / at.factor)
	}
	return strconv.FormatFloat(whole, 'f', -1, 64) + at.unit
}
