package roster

import (
	"slices"
	"strings"
)

// initial checks that there is exactly one initial value, of the variable's type and shape.
func (c *checker) initial() {
	d := c.d
	switch {
	case d.Initial == nil && d.InitialMode == "":
		c.fail("initial_value", "an initial value or an initial mode is needed")
	case d.Initial != nil && d.InitialMode != "":
		c.fail("initial_value_mode", "an initial value and an initial mode exclude each other")
	}
	if d.InitialMode != "" {
		c.mode()
	} else if d.InitialParams != nil {
		c.fail("initial_value_params", "parameters stand only with a random initial mode")
	}
	if d.Initial != nil {
		c.literal()
	}
}

// modeParams are the parameters of the random modes.
var modeParams = map[string][]string{
	"random_normal":  {"mean", "std"},
	"random_uniform": {"low", "high"},
}

func (c *checker) mode() {
	d := c.d
	c.term("initial_value_mode", d.InitialMode, initialModes)
	if !slices.Contains(tensors, d.Type) {
		c.fail("initial_value_mode", "an initial mode is for tensors only")
	}
	if d.InitialMode == "eye" && (len(d.Shape) != 2 || d.Shape[0] != d.Shape[1]) {
		c.fail("initial_value_mode", "eye needs a square shape of two axes")
	}
	names := modeParams[d.InitialMode]
	if names == nil {
		if d.InitialParams != nil {
			c.fail("initial_value_params", "the mode %s takes no parameters", d.InitialMode)
		}
		return
	}
	if !c.names("initial_value_params", d.InitialMode, d.InitialParams, names) {
		return
	}
	low, lowOK := find(d.InitialParams, names[0]).Number()
	high, highOK := find(d.InitialParams, names[1]).Number()
	switch {
	case !lowOK || !highOK:
		c.fail("initial_value_params", "the parameters of %s must be finite numbers", d.InitialMode)
	case d.InitialMode == "random_normal" && high < 0:
		c.fail("initial_value_params", "std must not be negative")
	case d.InitialMode == "random_uniform" && low > high:
		c.fail("initial_value_params", "low must not be above high")
	}
}

// names checks that the parameters are exactly those named, each once.
func (c *checker) names(key, of string, params []Param, names []string) bool {
	got := map[string]bool{}
	for _, p := range params {
		got[p.Name] = true
	}
	same := len(params) == len(names)
	for _, n := range names {
		same = same && got[n]
	}
	switch {
	case same:
	case len(names) == 0:
		c.fail(key, "%s takes no parameters", of)
	default:
		c.fail(key, "%s takes exactly the parameters %s", of, strings.Join(names, ", "))
	}
	return same
}

func (c *checker) literal() {
	d, l := c.d, *c.d.Initial
	fail := func(format string, args ...any) { c.fail("initial_value", format, args...) }
	reference := slices.Contains(references, d.Type)
	switch {
	case l.Kind == Null:
		if !reference {
			fail("null is the initial value of a reference only")
		}
	case d.Type == "bool":
		if l.Kind != Bool {
			fail("the initial value of a bool is true or false, not %s", l.Kind)
		}
	case reference:
		if n, _ := l.Number(); !l.Whole() || n < -1 {
			fail("the initial value of a reference is an integer from -1 up, or null")
		}
	case d.Type == "scalar":
		if _, ok := l.Number(); !ok {
			fail("the initial value of a scalar is a finite number")
		}
	default:
		if axes := c.axes(); axes != nil {
			c.fits(l, axes)
		}
	}
}

// axes is the shape of a vector's or tensor's value; nil where it is not known because
// another rule is broken.
func (c *checker) axes() []int64 {
	d := c.d
	switch {
	case fixedWidths[d.Type] != 0:
		return []int64{fixedWidths[d.Type]}
	case slices.Contains(dimsTypes, d.Type) && d.Dims != nil:
		return []int64{*d.Dims}
	case slices.Contains(tensors, d.Type) && len(d.Shape) > 0:
		return d.Shape
	}
	return nil
}

// fits reports the first way in which a literal does not fit the axes.
func (c *checker) fits(l Literal, axes []int64) bool {
	if len(axes) == 0 {
		if _, ok := l.Number(); !ok {
			c.fail("initial_value", "every element of the initial value must be a finite number")
			return false
		}
		if slices.Contains(integerVectors, c.d.Type) && !l.Whole() {
			c.fail("initial_value", "every element of an integer vector must be an integer")
			return false
		}
		return true
	}
	if l.Kind != List || int64(len(l.List)) != axes[0] {
		c.fail("initial_value", "the initial value does not have the variable's shape %v", c.axes())
		return false
	}
	for _, m := range l.List {
		if !c.fits(m, axes[1:]) {
			return false
		}
	}
	return true
}
