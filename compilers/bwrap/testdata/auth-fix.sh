#!/bin/sh
# Made by umwelt 1.0 for bwrap: runs its arguments in the sandbox, or a shell.
[ "$#" -gt 0 ] || set -- /bin/sh
umwelt_options=$(mktemp) || exit 125
exec 3<"$umwelt_options" 4>"$umwelt_options" || exit 125
rm -f -- "$umwelt_options"
unset umwelt_options
o() { printf '%s\0' "$@" >&4 || exit 125; }
o --unshare-all
o --die-with-parent
o --new-session
o --cap-drop ALL
o --setenv PATH /usr/local/bin:/usr/bin:/bin
o --symlink usr/bin /bin
o --dev /dev
o --perms 1777
o --tmpfs /dev/shm
o --symlink usr/lib /lib
o --symlink usr/lib64 /lib64
o --proc /proc
o --tmpfs /tmp
o --ro-bind /usr /usr
o --perms 0555
o --tmpfs /home/u/project
o --bind /home/u/project/src/auth /home/u/project/src/auth
o --ro-bind /home/u/project/src/common /home/u/project/src/common
o --ro-bind /home/u/project/tests /home/u/project/tests
o --remount-ro /dev
o --remount-ro /proc
o --remount-ro /home/u/project
o --remount-ro /
o --chdir /home/u/project
exec 4>&-
exec env -i PATH="$PATH" ${CI+"CI=$CI"} ${LANG+"LANG=$LANG"} \
  timeout --kill-after=5 300 prlimit --as=536870912 --nofile=256 \
  bwrap --args 3 -- "$@"
