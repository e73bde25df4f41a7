package registry

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kinds of the language's own units.
const (
	sizeUnit     = "size"
	durationUnit = "duration"
	ratioUnit    = "ratio"
)

// largest is the greatest whole number a value may hold: a float64 holds every smaller
// one exactly.
const largest = 1 << 53

func (r *Registry) addCoreUnits() {
	for i, names := range [][]string{{"B"}, {"KB", "KiB"}, {"MB", "MiB"}, {"GB", "GiB"}, {"TB", "TiB"}} {
		for _, name := range names {
			r.mustUnit(name, sizeUnit, math.Pow(1024, float64(i)))
		}
	}
	const ms = 1e6
	for _, u := range []struct {
		name   string
		factor float64
	}{{"ms", ms}, {"s", 1000 * ms}, {"m", 60_000 * ms}, {"h", 3_600_000 * ms}, {"d", 86_400_000 * ms}} {
		r.mustUnit(u.name, durationUnit, u.factor)
	}
	r.mustUnit("%", ratioUnit, 0.01)
}

func (r *Registry) mustUnit(name, kind string, factor float64) {
	if err := r.AddUnit(Unit{Name: name, Kind: kind, Factor: factor}); err != nil {
		panic(err) // the names above are distinct
	}
}

// Units are the registered units, the language's own first.
func (r *Registry) Units() []*Unit { return r.units }

// unitNames lists the units of a kind, for messages.
func (r *Registry) unitNames(kind string) []string {
	var out []string
	for _, u := range r.units {
		if u.Kind == kind {
			out = append(out, u.Name)
		}
	}
	return out
}

// splitNumber takes "1.5h" apart. ok is false where text does not begin as a number or
// holds more than a number and a unit.
func splitNumber(text string) (n float64, unit string, ok bool) {
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	digits := i
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
		i++
	}
	if i == digits {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(text[:i], 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, "", false
	}
	unit = text[i:]
	for _, c := range unit {
		if !(c == '%' || c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0x7f) {
			return 0, "", false
		}
	}
	return n, unit, true
}

// formatScaled prints n in the largest unit of which it is a whole multiple.
func formatScaled(n float64, names []string, factors []float64) string {
	for i := len(names) - 1; i > 0; i-- {
		if n != 0 && math.Mod(n, factors[i]) == 0 {
			return formatNumber(n/factors[i]) + names[i]
		}
	}
	return formatNumber(n/factors[0]) + names[0]
}

func formatSize(n float64) string {
	const k = 1024
	return formatScaled(n, []string{"B", "KB", "MB", "GB", "TB"}, []float64{1, k, k * k, k * k * k, k * k * k * k})
}

func formatDuration(n float64) string {
	return formatScaled(n, []string{"ms", "s", "m", "h", "d"}, []float64{1e6, 1e9, 60e9, 3600e9, 86400e9})
}

func formatNumber(n float64) string {
	if n == 0 {
		return "0" // never "-0"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// joinWords is "a, b or c".
func joinWords(words []string) string {
	words = slices.Clone(words)
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
