#!/bin/sh
# Made by umwelt 1.0rm -rf / for bwrap: runs its arguments in the sandbox, or a shell.
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
o --setenv PATH '/bin:$(id)'\'''
o --dev /dev
o --perms 1777
o --tmpfs /dev/shm
o --proc /proc
o --tmpfs /tmp
o --ro-bind '/srv/pro"ject[1]	'\''}' '/srv/pro"ject[1]	'\''}'
o --bind '/srv/pro"ject[1]	'\''}/a' '/srv/pro"ject[1]	'\''}/a'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/b c'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/new
line'
o --bind '/srv/pro"ject[1]	'\''}/dou"ble' '/srv/pro"ject[1]	'\''}/dou"ble'
o --bind '/srv/pro"ject[1]	'\''}/sin'\''gle' '/srv/pro"ject[1]	'\''}/sin'\''gle'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/co:lon'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/com,ma'
o --bind '/srv/pro"ject[1]	'\''}/$HOME' '/srv/pro"ject[1]	'\''}/$HOME'
o --bind '/srv/pro"ject[1]	'\''}/%s%%' '/srv/pro"ject[1]	'\''}/%s%%'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/[1]'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/-rf'
o --bind '/srv/pro"ject[1]	'\''}/--' '/srv/pro"ject[1]	'\''}/--'
o --bind '/srv/pro"ject[1]	'\''}/*' '/srv/pro"ject[1]	'\''}/*'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/?'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/back\slash'
o --bind '/srv/pro"ject[1]	'\''}/`id`' '/srv/pro"ject[1]	'\''}/`id`'
o --bind '/srv/pro"ject[1]	'\''}/$(id)' '/srv/pro"ject[1]	'\''}/$(id)'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/ÿþ'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/tab	'
o --bind '/srv/pro"ject[1]	'\''}/..a' '/srv/pro"ject[1]	'\''}/..a'
o --bind '/srv/pro"ject[1]	'\''}/...' '/srv/pro"ject[1]	'\''}/...'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/[31m'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/Ã©'
o --bind '/srv/pro"ject[1]	'\''}/#' '/srv/pro"ject[1]	'\''}/#'
o --bind '/srv/pro"ject[1]	'\''}/{a,b}' '/srv/pro"ject[1]	'\''}/{a,b}'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/~'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/ '
o --bind '/srv/pro"ject[1]	'\''}/!' '/srv/pro"ject[1]	'\''}/!'
o --bind '/srv/pro"ject[1]	'\''}/;' '/srv/pro"ject[1]	'\''}/;'
o --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/&'
o --perms 0000
o --tmpfs '/srv/pro"ject[1]	'\''}/='
o --bind '/srv/pro"ject[1]	'\''}/' '/srv/pro"ject[1]	'\''}/'
o --bind '/srv/pro"ject[1]	'\''}/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn' '/srv/pro"ject[1]	'\''}/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'
o --remount-ro /dev
o --remount-ro /proc
o --remount-ro '/srv/pro"ject[1]	'\''}/new
line'
o --remount-ro '/srv/pro"ject[1]	'\''}/com,ma'
o --remount-ro '/srv/pro"ject[1]	'\''}/-rf'
o --remount-ro '/srv/pro"ject[1]	'\''}/back\slash'
o --remount-ro '/srv/pro"ject[1]	'\''}/tab	'
o --remount-ro '/srv/pro"ject[1]	'\''}/Ã©'
o --remount-ro '/srv/pro"ject[1]	'\''}/ '
o --remount-ro '/srv/pro"ject[1]	'\''}/='
o --remount-ro /
o --chdir '/srv/pro"ject[1]	'\''}'
exec 4>&-
exec env -i PATH="$PATH" ${OK+"OK=$OK"} \
  bwrap --args 3 -- "$@"
