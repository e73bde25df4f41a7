package narrow

import (
	"slices"
	"strings"
)

// What a "*" behind a program's words would admit. The lists name programs by what they do
// with their arguments; one that is in none of them is taken to work on what they name.

// takers run what their arguments say, have options that run a command, or reach and fetch
// whatever they are told. They are named without the version at their end.
var takers = strings.Fields(`sh bash dash ash rbash zsh ksh mksh fish csh tcsh busybox toybox env sudo doas su xargs parallel nohup time timeout nice ionice stdbuf setsid
	exec eval command builtin source . ssh docker podman nerdctl kubectl helm nsenter chroot unshare bwrap firejail strace ltrace perf valgrind gdb lldb
	watch entr find fd awk gawk mawk nawk sed script expect tmux screen ninja make gmake just task rake start cmd powershell pwsh flock runuser setpriv
	systemd-run crontab at batch direnv nix-shell nix guix taskset chrt catchsegv xvfb-run dbus-run-session caffeinate
	curl wget http https aria2c nc ncat netcat socat telnet ftp sftp scp rsync rclone aws gcloud az gh openssl
	vi vim nvim view ex ed emacs nano less more man tar bsdtar cpio zip 7z sqlite psql mysql mariadb mongo mongosh redis-cli
	npx uvx bunx pnpx pip pipx easy_install gem apt apt-get dnf yum apk pacman brew conda mamba snap flatpak
	pdb timeit runpy cprofile profile`)

// interpreters run a program that their arguments name or hold: only the named program with
// any arguments is a step.
var interpreters = strings.Fields("python pypy perl ruby node nodejs php lua luajit java Rscript julia tclsh osascript")

// versed are programs whose first word says what they do: behind options that stand before
// it they may do anything, so no "*" stands there. The words behind which they run, fetch or
// set up whatever they are told are listed with them.
var versed = map[string][]string{
	"git":    strings.Fields("bisect submodule config rebase difftool mergetool filter-branch fetch pull push clone ls-remote remote archive grep alias daemon send-email for-each-repo instaweb upload-pack receive-pack hook maintenance"),
	"hg":     strings.Fields("clone pull push bisect config incoming outgoing"),
	"svn":    strings.Fields("checkout co switch update export import"),
	"go":     strings.Fields("run generate tool get install env"),
	"cargo":  strings.Fields("install add rustc config"),
	"npm":    strings.Fields("exec x install i ci add init create config set explore rebuild publish run run-script"),
	"yarn":   strings.Fields("exec dlx add init create config set global node run install"),
	"pnpm":   strings.Fields("exec dlx x add install i init create config set run"),
	"bun":    strings.Fields("x add install i create"),
	"deno":   strings.Fields("eval install task run"),
	"bundle": strings.Fields("exec add install config"),
	"poetry": strings.Fields("run add install config self"),
	"uv":     strings.Fields("run tool pip add sync"),
	"pdm":    strings.Fields("run add install config"),
	"hatch":  strings.Fields("run env"),
	"rye":    strings.Fields("run add install"),
	"pipenv": strings.Fields("run install"),
	"mvn":    strings.Fields("exec"),
}

// fixedWords is how many words of a call have to stand as they are before a "*" may, 0 where
// none may.
func fixedWords(words []string) int {
	name := programName(words[0])
	whole := strings.ToLower(words[0][strings.LastIndexByte(words[0], '/')+1:])
	if name == "" || slices.Contains(takers, name) || slices.Contains(takers, whole) {
		return 0
	}
	if may, ok := versed[name]; ok {
		if !subcommand(words[1]) || slices.Contains(may, words[1]) {
			return 0
		}
		return 2
	}
	switch {
	case slices.ContainsFunc(interpreters, func(i string) bool { return strings.EqualFold(i, name) }):
		switch {
		case words[1] != "-m":
			return 2
		case len(words) < 3 || slices.Contains(takers, programName(words[2])):
			return 0
		}
		return 3
	case subcommand(words[1]):
		return 2
	}
	return 1
}

// programName is a program without its directory, its version and what ends the names of
// programs elsewhere: python for /usr/bin/python3.11.
func programName(program string) string {
	name := strings.ToLower(program[strings.LastIndexByte(program, '/')+1:])
	return strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-_")
}
