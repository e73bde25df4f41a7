#!/bin/sh
# Made by umwelt 1.0rm -rf / for bwrap: runs its arguments in the sandbox, or a shell.
[ "$#" -gt 0 ] || set -- /bin/sh
exec env -i PATH="$PATH" ${OK+"OK=$OK"} \
  bwrap \
  --unshare-all \
  --die-with-parent \
  --new-session \
  --cap-drop ALL \
  --setenv PATH '/bin:$(id)'\''' \
  --dev /dev \
  --perms 1777 \
  --tmpfs /dev/shm \
  --proc /proc \
  --tmpfs /tmp \
  --ro-bind '/srv/pro"ject[1]	'\''}' '/srv/pro"ject[1]	'\''}' \
  --bind '/srv/pro"ject[1]	'\''}/a' '/srv/pro"ject[1]	'\''}/a' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/b c' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/new
line' \
  --bind '/srv/pro"ject[1]	'\''}/dou"ble' '/srv/pro"ject[1]	'\''}/dou"ble' \
  --bind '/srv/pro"ject[1]	'\''}/sin'\''gle' '/srv/pro"ject[1]	'\''}/sin'\''gle' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/co:lon' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/com,ma' \
  --bind '/srv/pro"ject[1]	'\''}/$HOME' '/srv/pro"ject[1]	'\''}/$HOME' \
  --bind '/srv/pro"ject[1]	'\''}/%s%%' '/srv/pro"ject[1]	'\''}/%s%%' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/[1]' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/-rf' \
  --bind '/srv/pro"ject[1]	'\''}/--' '/srv/pro"ject[1]	'\''}/--' \
  --bind '/srv/pro"ject[1]	'\''}/*' '/srv/pro"ject[1]	'\''}/*' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/?' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/back\slash' \
  --bind '/srv/pro"ject[1]	'\''}/`id`' '/srv/pro"ject[1]	'\''}/`id`' \
  --bind '/srv/pro"ject[1]	'\''}/$(id)' '/srv/pro"ject[1]	'\''}/$(id)' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/ÿş' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/tab	' \
  --bind '/srv/pro"ject[1]	'\''}/..a' '/srv/pro"ject[1]	'\''}/..a' \
  --bind '/srv/pro"ject[1]	'\''}/...' '/srv/pro"ject[1]	'\''}/...' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/[31m' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/Ã©' \
  --bind '/srv/pro"ject[1]	'\''}/#' '/srv/pro"ject[1]	'\''}/#' \
  --bind '/srv/pro"ject[1]	'\''}/{a,b}' '/srv/pro"ject[1]	'\''}/{a,b}' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/~' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/ ' \
  --bind '/srv/pro"ject[1]	'\''}/!' '/srv/pro"ject[1]	'\''}/!' \
  --bind '/srv/pro"ject[1]	'\''}/;' '/srv/pro"ject[1]	'\''}/;' \
  --ro-bind /dev/null '/srv/pro"ject[1]	'\''}/&' \
  --perms 0000 \
  --tmpfs '/srv/pro"ject[1]	'\''}/=' \
  --bind '/srv/pro"ject[1]	'\''}/' '/srv/pro"ject[1]	'\''}/' \
  --bind '/srv/pro"ject[1]	'\''}/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn' '/srv/pro"ject[1]	'\''}/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn' \
  --remount-ro /dev \
  --remount-ro '/srv/pro"ject[1]	'\''}/new
line' \
  --remount-ro '/srv/pro"ject[1]	'\''}/com,ma' \
  --remount-ro '/srv/pro"ject[1]	'\''}/-rf' \
  --remount-ro '/srv/pro"ject[1]	'\''}/back\slash' \
  --remount-ro '/srv/pro"ject[1]	'\''}/tab	' \
  --remount-ro '/srv/pro"ject[1]	'\''}/Ã©' \
  --remount-ro '/srv/pro"ject[1]	'\''}/ ' \
  --remount-ro '/srv/pro"ject[1]	'\''}/=' \
  --remount-ro / \
  --chdir '/srv/pro"ject[1]	'\''}' \
  -- "$@"
