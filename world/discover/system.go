package discover

import (
	"os"
	"path/filepath"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// systemPaths are what of a host a sandboxed program needs to run at all: programs and
// libraries, and those parts of /etc that the loader and the C library read and that hold
// no secret. Accounts, host names and resolver settings are readable by everybody on the
// host as well. Nothing else of /etc, and nothing of /home, /root, /var or /run, comes in
// without a mount that a world names.
var systemPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf",
	"/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/pki/tls/certs", "/etc/resolv.conf",
	"/etc/ssl/certs",
}

// system finds the host's system directories, as read-only mounts or, where they are
// symbolic links, as links, and adds fresh /proc, /dev and /tmp.
func (h Host) system(req world.Request) world.Result {
	var res world.Result
	t := typeOf(&req, &res, mountType)
	if t == nil {
		return res
	}
	for _, p := range systemPaths {
		info, err := os.Lstat(filepath.Join(h.Root, p))
		if err != nil {
			continue // this host has none
		}
		if info.Mode()&os.ModeSymlink == 0 {
			res.Entities = append(res.Entities, mount(req.Registry, t, p, "bind", p))
			continue
		}
		target, err := os.Readlink(filepath.Join(h.Root, p))
		switch {
		case err != nil || target == "":
			res.Diagnostics.Warnf(diag.Unreadable, req.Recipe.At, "the link %s cannot be read", diag.Quote(p))
		case filepath.Dir(p) == "/":
			res.Entities = append(res.Entities, mount(req.Registry, t, p, "symlink", target))
		default:
			// A link below /etc may lead to a place that the sandbox lacks: bind what it names.
			if real, err := filepath.EvalSymlinks(filepath.Join(h.Root, p)); err == nil {
				res.Entities = append(res.Entities, mount(req.Registry, t, p, "bind", hostPath(h.Root, real)))
			}
		}
	}
	for _, fresh := range []struct{ path, kind string }{{"/proc", "proc"}, {"/dev", "dev"}, {"/tmp", "tmpfs"}} {
		res.Entities = append(res.Entities, mount(req.Registry, t, fresh.path, fresh.kind, ""))
	}
	res.Entities = byID(res.Entities)
	return res
}

// hostPath is a path of the host without the root it was looked up below.
func hostPath(root, full string) string {
	if rel, err := filepath.Rel(root, full); err == nil {
		return "/" + filepath.ToSlash(rel)
	}
	return full
}

func mount(reg *registry.Registry, t *registry.EntityType, path, kind, source string) world.Entity {
	attrs := []world.Attribute{attr("path", path), attr("type", kind)}
	if source != "" {
		attrs = append(attrs, attr("source", source))
	}
	if kind == "bind" {
		if a, ok := typed(reg, t, "readonly", "true"); ok && t.Attribute("readonly") != nil {
			attrs = append(attrs, a)
		}
	}
	return made(t, path, attrs...)
}
