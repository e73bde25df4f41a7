package cascade

import (
	"strings"

	"umwelt/world"
)

// compoundIndex finds, for an entity, the compounds that may fit it: the work depends on
// the entity and on what is found, not on how many compounds there are.
type compoundIndex struct {
	types   [][]int32 // by EntityType.Index
	any     []int32
	ids     map[string][]int32
	classes map[string][]int32
	texts   []textIndexes // one an attribute, or pathSlot
}

// textIndexes are the indexes of one attribute, plain and folded. Few attributes have any, so
// that going through all of them is faster than a map.
type textIndexes struct {
	attr string
	list []*textIndex
}

// textIndex finds compounds by the text of one attribute.
type textIndex struct {
	fold                             bool
	present                          []int32
	equal, member, dash              map[string][]int32
	prefixes, suffixes               *affixes
	contains                         *needles
	prefixText, suffixText, contText []string
	prefixID, suffixID, contID       []int32
}

func newCompoundIndex(keys [][]indexKey) *compoundIndex {
	x := &compoundIndex{
		ids:     map[string][]int32{},
		classes: map[string][]int32{},
	}
	for i, set := range keys {
		for _, k := range set {
			x.add(k, int32(i))
		}
	}
	for _, indexes := range x.texts {
		for _, t := range indexes.list {
			t.finish()
		}
	}
	return x
}

func (x *compoundIndex) add(k indexKey, id int32) {
	switch k.kind {
	case keyID:
		x.ids[k.text] = append(x.ids[k.text], id)
	case keyClass:
		x.classes[k.text] = append(x.classes[k.text], id)
	case keyType:
		for len(x.types) <= k.typ.Index {
			x.types = append(x.types, nil)
		}
		x.types[k.typ.Index] = append(x.types[k.typ.Index], id)
	case keyAny:
		x.any = append(x.any, id)
	default:
		x.textIndex(k.attr, k.fold).add(k, id)
	}
}

func (x *compoundIndex) textIndex(attr string, fold bool) *textIndex {
	for _, t := range x.of(attr) {
		if t.fold == fold {
			return t
		}
	}
	t := &textIndex{fold: fold, equal: map[string][]int32{}, member: map[string][]int32{}, dash: map[string][]int32{}}
	for i := range x.texts {
		if x.texts[i].attr == attr {
			x.texts[i].list = append(x.texts[i].list, t)
			return t
		}
	}
	x.texts = append(x.texts, textIndexes{attr, []*textIndex{t}})
	return t
}

// of are the indexes of an attribute.
func (x *compoundIndex) of(attr string) []*textIndex {
	for i := range x.texts {
		if x.texts[i].attr == attr {
			return x.texts[i].list
		}
	}
	return nil
}

func (t *textIndex) add(k indexKey, id int32) {
	switch k.kind {
	case keyPresent:
		t.present = append(t.present, id)
	case keyEqual:
		t.equal[k.text] = append(t.equal[k.text], id)
	case keyMember:
		t.member[k.text] = append(t.member[k.text], id)
	case keyDash:
		t.dash[k.text] = append(t.dash[k.text], id)
	case keyPrefix:
		t.prefixText, t.prefixID = append(t.prefixText, k.text), append(t.prefixID, id)
	case keySuffix:
		t.suffixText, t.suffixID = append(t.suffixText, k.text), append(t.suffixID, id)
	case keyContains:
		t.contText, t.contID = append(t.contText, k.text), append(t.contID, id)
	}
}

func (t *textIndex) finish() {
	if len(t.prefixID) > 0 {
		t.prefixes = newAffixes(false, t.prefixText, t.prefixID)
	}
	if len(t.suffixID) > 0 {
		t.suffixes = newAffixes(true, t.suffixText, t.suffixID)
	}
	if len(t.contID) > 0 {
		t.contains = newNeedles(t.contText, t.contID)
	}
	t.prefixText, t.suffixText, t.contText = nil, nil, nil
	t.prefixID, t.suffixID, t.contID = nil, nil, nil
}

// candidates appends every compound that may fit e; one may come more than once.
func (x *compoundIndex) candidates(out []int32, e *world.Entity) []int32 {
	out = append(out, x.any...)
	if e.Type.Index < len(x.types) {
		out = append(out, x.types[e.Type.Index]...)
	}
	if len(x.classes) > 0 {
		for _, c := range e.Classes {
			out = append(out, x.classes[c]...)
		}
	}
	if len(x.ids) > 0 {
		out = append(out, x.ids[e.ID]...)
		if name, _ := e.Fact("name"); name != e.ID {
			out = append(out, x.ids[name]...)
		}
	}
	if len(x.texts) == 0 {
		return out
	}
	named := false
	for i := range e.Attributes {
		a := &e.Attributes[i]
		named = named || a.Name == "name"
		if indexes := x.of(a.Name); indexes != nil {
			text := a.Text
			if a.Name == e.Type.PathAttr {
				text = strings.TrimPrefix(text, "./")
			}
			out = find(out, indexes, text, a.List)
		}
	}
	if indexes := x.of("name"); indexes != nil && !named {
		name, _ := e.Fact("name")
		out = find(out, indexes, name, nil)
	}
	if indexes := x.of(pathSlot); indexes != nil {
		if path := strings.TrimPrefix(e.Path(), "./"); path != "" {
			out = find(out, indexes, path, nil)
		}
	}
	return out
}

func find(out []int32, indexes []*textIndex, text string, list []string) []int32 {
	for _, t := range indexes {
		out = t.find(out, text, list)
	}
	return out
}

func (t *textIndex) find(out []int32, text string, list []string) []int32 {
	out = append(out, t.present...)
	if len(t.member) > 0 {
		out = t.findMembers(out, text, list)
	}
	if t.fold {
		text = strings.ToLower(text)
	}
	if len(t.equal) > 0 {
		out = append(out, t.equal[text]...)
	}
	if len(t.dash) > 0 {
		out = append(out, t.dash[text]...)
		for i := 0; i < len(text); i++ {
			if text[i] == '-' {
				out = append(out, t.dash[text[:i]]...)
			}
		}
	}
	if t.prefixes != nil {
		out = t.prefixes.find(out, text)
	}
	if t.suffixes != nil {
		out = t.suffixes.find(out, text)
	}
	if t.contains != nil {
		out = t.contains.find(out, text)
	}
	return out
}

func (t *textIndex) findMembers(out []int32, text string, list []string) []int32 {
	add := func(member string) {
		if t.fold {
			member = strings.ToLower(member)
		}
		out = append(out, t.member[member]...)
	}
	if list != nil {
		for _, m := range list {
			add(m)
		}
		return out
	}
	for word := range strings.FieldsSeq(text) {
		add(word)
	}
	return out
}
