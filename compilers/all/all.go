// Package all is the one list of compile targets.
package all

import (
	"umwelt/compilers"
	"umwelt/compilers/bwrap"
	"umwelt/compilers/delegate"
	"umwelt/compilers/docker"
	"umwelt/compilers/jsontarget"
	"umwelt/compilers/kubernetes"
	"umwelt/compilers/landlock"
	"umwelt/compilers/nsjail"
	"umwelt/compilers/podman"
	"umwelt/compilers/sqlite"
	"umwelt/compilers/vfs"
)

// Compilers are the targets in the order of lists and reports: by altitude, then as they
// are best known.
func Compilers() []compilers.Compiler {
	list := []compilers.Compiler{
		nsjail.Compiler,
		bwrap.Compiler,
		landlock.Compiler,
		podman.Compiler,
		docker.Compiler,
		kubernetes.Compiler(),
		vfs.Compiler(),
		delegate.Compiler,
		jsontarget.Compiler(),
	}
	infos := make([]compilers.Info, len(list))
	for i, c := range list {
		infos[i] = c.Info
	}
	return append(list, sqlite.Compilers(infos)...)
}
