package registry

// Kind is the base kind of a value.
type Kind uint8

// The value kinds of the language.
const (
	Boolean Kind = iota
	Integer
	Number
	Text // string
	Size
	Duration
	Path
	Glob
	Identifier
	Enum
	Command
)

func (k Kind) String() string {
	return [...]string{"boolean", "integer", "number", "string", "size", "duration", "path", "glob", "identifier", "enum", "command"}[k]
}

// Shape says whether a type is one value or many.
type Shape uint8

// The shapes of a value type.
const (
	One  Shape = iota
	List       // ordered, duplicates kept
	Set        // unordered, no duplicates
)

// ValueType is the type of an attribute or property.
type ValueType struct {
	Kind     Kind
	Shape    Shape
	Enum     []string // the words of an enum
	Min, Max float64  // the range, where HasRange
	HasRange bool
}

// Value is a typed value. Text is its canonical text, and two values of one type are
// equal exactly when their Texts are. Num is the number of an Integer, Number, Size
// (bytes) or Duration (nanoseconds), and 1 or 0 of a Boolean. List holds the members of a
// list or set (a set sorted and without duplicates).
type Value struct {
	Text string
	Num  float64
	List []string
}

// Bool reports whether v is the boolean true.
func (v *Value) Bool() bool { return v != nil && v.Text == "true" }
