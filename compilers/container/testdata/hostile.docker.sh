#!/bin/sh
# Made by umwelt 1.0rm -rf / for docker: runs its arguments in a container, or a shell.
# Values that the policy fixes are read from UMWELT_ENV_NAME.
[ "$#" -gt 0 ] || set -- /bin/sh
d=$(mktemp -d /tmp/umwelt.XXXXXXXXXX) || exit 125
: > "$d/cover" && chmod 0 "$d/cover" || exit 125
set -- \
  docker run \
  --rm \
  --interactive \
  --pull never \
  --log-driver none \
  --entrypoint '' \
  --read-only \
  --cap-drop ALL \
  --security-opt no-new-privileges \
  --network none \
  --memory 536870912 \
  --memory-swap 536870912 \
  --pids-limit 32 \
  --cpus 1.5 \
  --ulimit nofile=64:64 \
  --ulimit cpu=7:7 \
  --ulimit fsize=4096:4096 \
  --shm-size 1048576 \
  --workdir '/srv/pro"ject[1]	'\''}' \
  --env 'PATH=/bin:$(id)'\''' \
  --env OK \
  --env TOKEN \
  --tmpfs /tmp:exec,size=1048576,mode=1777 \
  --tmpfs /var/a,b:exec,size=5,mode=1777 \
  --mount type=tmpfs,target=/var/a:b,tmpfs-size=1048576,tmpfs-mode=1777 \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}","target=/srv/pro""ject[1]	'\''}",ro,bind-nonrecursive=true' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/a","target=/srv/pro""ject[1]	'\''}/a"' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/b c",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/new
line",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/dou""ble","target=/srv/pro""ject[1]	'\''}/dou""ble"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/sin'\''gle","target=/srv/pro""ject[1]	'\''}/sin'\''gle"' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/co:lon",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/com,ma",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/$HOME","target=/srv/pro""ject[1]	'\''}/$HOME"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/%s%%","target=/srv/pro""ject[1]	'\''}/%s%%"' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/[1]",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/-rf",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/--","target=/srv/pro""ject[1]	'\''}/--"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/*","target=/srv/pro""ject[1]	'\''}/*"' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/?",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/back\slash",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/`id`","target=/srv/pro""ject[1]	'\''}/`id`"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/$(id)","target=/srv/pro""ject[1]	'\''}/$(id)"' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/tab	",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/..a","target=/srv/pro""ject[1]	'\''}/..a"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/...","target=/srv/pro""ject[1]	'\''}/..."' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/[31m",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/é",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/#","target=/srv/pro""ject[1]	'\''}/#"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/{a,b}","target=/srv/pro""ject[1]	'\''}/{a,b}"' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/~",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/ ",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/!","target=/srv/pro""ject[1]	'\''}/!"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/;","target=/srv/pro""ject[1]	'\''}/;"' \
  --mount 'type=bind,source='"$d"'/cover,"target=/srv/pro""ject[1]	'\''}/&",ro,bind-nonrecursive=true' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/=",ro,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/","target=/srv/pro""ject[1]	'\''}/"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/long","target=/srv/pro""ject[1]	'\''}/long"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/tmp:fs","target=/srv/pro""ject[1]	'\''}/tmp:fs",ro,bind-nonrecursive=true' \
  --user "$(id -u):$(id -g)" \
  debian:stable-slim \
  "$@"
if [ "${UMWELT_ENV_TOKEN+set}" ]; then export TOKEN="$UMWELT_ENV_TOKEN"; else unset TOKEN; fi
p=
end() { [ -z "$p" ] || kill "$p" 2>/dev/null; [ ! -s "$d/id" ] || docker rm --force "$(cat "$d/id")" >/dev/null 2>&1; rm -rf "$d"; }
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
shift 2
exec 3<&0
timeout --kill-after=5 2.5 docker run --sig-proxy=false --cidfile "$d/id" "$@" <&3 3<&- &
p=$!
wait "$p"
s=$?
p=
exit "$s"
