package diag

// Code names a kind of diagnostic. Codes are stable: tools and people match on them.
type Code string

// The codes. Each has an explanation in Codes.
const (
	Syntax           Code = "syntax"
	Encoding         Code = "encoding"
	Unterminated     Code = "unterminated"
	TooLarge         Code = "too-large"
	TooDeep          Code = "too-deep"
	CommentInValue   Code = "comment-in-value"
	UnknownTaxon     Code = "unknown-taxon"
	UnknownType      Code = "unknown-type"
	UnknownProperty  Code = "unknown-property"
	UnknownAttribute Code = "unknown-attribute"
	UnknownAtRule    Code = "unknown-at-rule"
	UnknownPseudo    Code = "unknown-pseudo"
	UnknownFlag      Code = "unknown-flag"
	UnknownKey       Code = "unknown-key"
	UnknownTarget    Code = "unknown-target"
	AmbiguousType    Code = "ambiguous-type"
	SiblingSelector  Code = "sibling-selector"
	BadValue         Code = "bad-value"
	BadSelector      Code = "bad-selector"
	BadVocabulary    Code = "bad-vocabulary"
	Duplicate        Code = "duplicate"
	NotLockable      Code = "not-lockable"
	Loosened         Code = "loosened"
	Import           Code = "import"
	ImportCycle      Code = "import-cycle"
	Include          Code = "include"
	YAML             Code = "yaml"
	Template         Code = "template"
	Altered          Code = "altered"
	BadEntity        Code = "bad-entity"
	BadPath          Code = "bad-path"
	Escapes          Code = "escapes"
	Unreadable       Code = "unreadable"
	Vanished         Code = "vanished"
	Matcher          Code = "matcher"
	NoMatch          Code = "no-match"
	UnknownEntity    Code = "unknown-entity"
	Secret           Code = "secret"
	Unenforced       Code = "unenforced"
	BadOption        Code = "bad-option"
	Invalid          Code = "invalid"
	Output           Code = "output"
	MissingTool      Code = "missing-tool"
)

// Codes explains every code, in the order of the reference.
var Codes = []struct {
	Code    Code
	Meaning string
}{
	{Syntax, "The text does not follow the grammar. The statement is skipped and the rest is still read."},
	{Encoding, "The text is not UTF-8, or holds a NUL byte."},
	{Unterminated, "A string, comment or block is still open where the file ends. The place is where it began."},
	{TooLarge, "The file, a selector or a document is over its bound."},
	{TooDeep, "Blocks, brackets or functions are nested deeper than 64."},
	{CommentInValue, "A // inside a value starts a comment. Put the value in quotes if it is a URL."},
	{UnknownTaxon, "No vocabulary registers this taxon."},
	{UnknownType, "No vocabulary registers this entity type, so the selector matches nothing."},
	{UnknownProperty, "The entity type has no such property, so the declaration has no effect."},
	{UnknownAttribute, "The entity type registers no such attribute."},
	{UnknownAtRule, "No vocabulary registers this at-rule, so it has no effect."},
	{UnknownPseudo, "No vocabulary registers this pseudo-class, so its selector matches nothing."},
	{UnknownFlag, "Only !important and !locked may follow a value."},
	{UnknownKey, "A world file has no such key. A typo here would drop a capability or a constraint."},
	{UnknownTarget, "There is no compile target of this name."},
	{AmbiguousType, "Two taxa register this entity type. Write taxon|type."},
	{SiblingSelector, "A world has no sibling order, so a selector with + or ~ never matches."},
	{BadValue, "The value does not fit the property's or attribute's type or range."},
	{BadSelector, "The selector cannot be used where it stands."},
	{BadVocabulary, "A vocabulary at-rule is incomplete or contradicts itself."},
	{Duplicate, "The same thing is defined twice. Both places are named."},
	{NotLockable, "A property without a restrictive direction cannot be !locked."},
	{Loosened, "A later layer tried to loosen a !locked value. The attempt is dropped."},
	{Import, "An imported file cannot be read."},
	{ImportCycle, "A file imports itself, directly or through others."},
	{Include, "An included world file or section cannot be read, or lies outside the outermost file's directory."},
	{YAML, "The world file is not YAML that this tool accepts."},
	{Altered, "A snapshot does not hold the entities that its digest or its counts speak of."},
	{Template, "The text looks like an unfilled template. World files are not templates."},
	{BadEntity, "An entity is incomplete or contradicts its type."},
	{BadPath, "A path is absolute, has a .. in it or leaves the root."},
	{Escapes, "A symbolic link points outside the root. It is recorded and never followed."},
	{Unreadable, "A file or directory could not be read, so what it holds is unknown and not granted."},
	{Vanished, "A path went away while it was being read."},
	{Matcher, "A discovery recipe is wrong or found nothing it could use."},
	{NoMatch, "The rule matches no entity of this world."},
	{UnknownEntity, "A named entity does not exist in this world."},
	{Secret, "A value that is never printed would stand in what is printed. Its line is not shown."},
	{Unenforced, "The target cannot enforce this part of the policy."},
	{BadOption, "A command-line or target option is wrong."},
	{Invalid, "The resolved policy breaks a rule of the target's format."},
	{Output, "The result could not be written."},
	{MissingTool, "An outside program is needed and not installed."},
}
