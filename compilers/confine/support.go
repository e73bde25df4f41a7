package confine

import "umwelt/compilers"

// Support is what a target that keeps every part of a confinement declares: all of it is
// enforced but for what own says otherwise. limits are those of resources, by the name that
// bare and max- properties share.
func Support(own, limits map[string]compilers.Support) map[string]compilers.Support {
	s := map[string]compilers.Support{}
	for _, name := range []string{
		"file.editable", "file.visible", "dir.editable", "dir.visible", "use.editable", "use.visible",
		"mount.*", "network.allow", "network.deny", "env.allow", "env.value", "exec.search-path",
	} {
		s[name] = compilers.Support{Level: compilers.Enforced}
	}
	for name, l := range own {
		s[name] = l
	}
	for name, l := range limits {
		s["resource."+name], s["resource.max-"+name] = l, l
	}
	return s
}
