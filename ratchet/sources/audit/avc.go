package audit

import (
	"path"
	"slices"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// avc gives what a security module decided, where no system call of the event named it.
func (r *reader) avc(e *event, f fields) error {
	switch {
	case f["apparmor"] != "":
		return r.apparmor(e, f)
	case f["avc"] != "":
		return r.selinux(e, f)
	}
	r.sink.Miss(ratchet.Unknown, "AVC of an unknown module", e.line)
	return nil
}

// perms are what the permissions of SELinux are, of files and directories.
var perms = map[string]ratchet.Verb{
	"read": ratchet.Read, "open": ratchet.Read, "map": ratchet.Read, "lock": ratchet.Read,
	"write": ratchet.Write, "append": ratchet.Write, "setattr": ratchet.Write, "relabelfrom": ratchet.Write, "relabelto": ratchet.Write,
	"create": ratchet.Create, "unlink": ratchet.Delete, "rmdir": ratchet.Delete, "rename": ratchet.Rename, "link": ratchet.Stat,
	"getattr": ratchet.Stat, "search": ratchet.Stat, "execute": ratchet.Exec, "execute_no_trans": ratchet.Exec, "entrypoint": ratchet.Exec,
}

// classes are the kinds of objects that are files.
var classes = []string{"file", "dir", "lnk_file", "chr_file", "blk_file", "sock_file", "fifo_file"}

func (r *reader) selinux(e *event, f fields) error {
	class := f["tclass"]
	if !slices.Contains(classes, class) {
		r.sink.Miss(ratchet.Unresolved, "AVC of "+class, e.line)
		return nil
	}
	text, ok := f.text("path")
	if !ok || !path.IsAbs(text) {
		r.sink.Miss(ratchet.Unresolved, "AVC without a path", e.line)
		return nil
	}
	t := told{e: e, process: f["pid"], outcome: ratchet.Denied, reason: "SELinux: " + record.Clip(f["perms"])}
	if f["avc"] == "granted" || f["permissive"] == "1" {
		t.outcome, t.reason = ratchet.Allowed, ""
	}
	var done []ratchet.Verb
	for _, p := range strings.Fields(f["perms"]) {
		verb, ok := perms[p]
		if !ok {
			r.sink.Miss(ratchet.Unknown, "AVC "+p, e.line)
			continue
		}
		o := ratchet.Observation{Type: "file", ID: path.Clean(text), Verb: verb}
		if class == "dir" {
			o.Type = "dir"
			if verb == ratchet.Read {
				o.Verb = ratchet.List
			}
		}
		if verb == ratchet.Exec {
			o.Type = "exec"
		}
		if slices.Contains(done, o.Verb) {
			continue
		}
		done = append(done, o.Verb)
		if err := t.put(r, o); err != nil {
			return err
		}
	}
	return nil
}

// operations are those of AppArmor that name a file. Where there is no verb the mask says
// what was asked for.
var operations = map[string]ratchet.Verb{
	"open": "", "file_perm": "", "file_receive": "", "file_inherit": "", "file_mmap": "",
	"getattr": ratchet.Stat, "mknod": ratchet.Create, "mkdir": ratchet.Create, "symlink": ratchet.Create, "link": ratchet.Create,
	"unlink": ratchet.Delete, "rmdir": ratchet.Delete, "rename_src": ratchet.Rename, "rename_dest": ratchet.Rename,
	"truncate": ratchet.Write, "chmod": ratchet.Write, "chown": ratchet.Write, "setattr": ratchet.Write, "exec": ratchet.Exec,
}

func (r *reader) apparmor(e *event, f fields) error {
	verdict, _ := f.text("apparmor")
	t := told{e: e, process: f["pid"]}
	switch verdict {
	case "STATUS", "HINT", "ERROR":
		return nil // about the module itself
	case "DENIED", "KILLED":
		profile, _ := f.text("profile")
		t.outcome, t.reason = ratchet.Denied, record.Clip("AppArmor: "+strings.ToValidUTF8(profile, "\uFFFD"))
	case "ALLOWED", "AUDIT":
		t.outcome = ratchet.Allowed
	default:
		r.sink.Miss(ratchet.Unknown, "AVC "+strings.ToValidUTF8(verdict, "\uFFFD"), e.line)
		return nil
	}
	operation, _ := f.text("operation")
	verb, ok := operations[operation]
	if !ok {
		r.sink.Miss(ratchet.Unresolved, "AVC of "+strings.ToValidUTF8(operation, "\uFFFD"), e.line)
		return nil
	}
	text, ok := f.text("name")
	if !ok || !path.IsAbs(text) {
		r.sink.Miss(ratchet.Unresolved, "AVC without a path", e.line)
		return nil
	}
	o := ratchet.Observation{Type: "file", ID: path.Clean(text)}
	if strings.HasSuffix(text, "/") || operation == "mkdir" || operation == "rmdir" {
		o.Type = "dir"
	}
	verbs := []ratchet.Verb{verb}
	if verb == "" {
		mask, _ := f.text("denied_mask")
		if mask == "" {
			mask, _ = f.text("requested_mask")
		}
		verbs = masked(mask, o.Type)
		if len(verbs) == 0 {
			r.sink.Miss(ratchet.Unknown, "AVC mask "+strings.ToValidUTF8(mask, "\uFFFD"), e.line)
		}
	}
	for _, o.Verb = range verbs {
		if o.Verb == ratchet.Exec {
			o.Type = "exec"
		}
		if err := t.put(r, o); err != nil {
			return err
		}
	}
	return nil
}

// masked are the verbs of a mask such as "rw" or "wc".
func masked(mask, typ string) []ratchet.Verb {
	mask, _, _ = strings.Cut(mask, ":") // of the owner, and of everybody else
	var out []ratchet.Verb
	for _, letters := range []struct {
		any  string
		verb ratchet.Verb
	}{{"rmk", ratchet.Read}, {"wa", ratchet.Write}, {"c", ratchet.Create}, {"d", ratchet.Delete}, {"x", ratchet.Exec}} {
		verb := letters.verb
		if verb == ratchet.Read && typ == "dir" {
			verb = ratchet.List
		}
		if strings.ContainsAny(mask, letters.any) {
			out = append(out, verb)
		}
	}
	return out
}
