#!/bin/sh
# Made by umwelt 1.0rm -rf / for podman: runs its arguments in a container, or a shell.
# Values that the policy fixes are read from UMWELT_ENV_NAME.
[ "$#" -gt 0 ] || set -- /bin/sh
set -- \
  podman --runtime runc run \
  --rm \
  --interactive \
  --pull never \
  --log-driver none \
  --entrypoint '' \
  --read-only-tmpfs=false \
  --http-proxy=false \
  --unsetenv-all \
  --image-volume=ignore \
  --no-hosts \
  --read-only \
  --cap-drop ALL \
  --security-opt no-new-privileges \
  --network none \
  --user 0:0 \
  --memory 536870912 \
  --memory-swap 536870912 \
  --pids-limit 32 \
  --cpus 1.5 \
  --ulimit nofile=64:64 \
  --ulimit cpu=7:7 \
  --ulimit fsize=4096:4096 \
  --ulimit nproc=32768:32768 \
  --shm-size 1048576 \
  --timeout 2 \
  --workdir '/srv/pro"ject[1]	'\''}' \
  --env 'PATH=/bin:$(id)'\''' \
  --env OK \
  --env TOKEN \
  --mount type=tmpfs,target=/tmp,notmpcopyup,exec,tmpfs-size=1048576,tmpfs-mode=1777 \
  --mount 'type=tmpfs,"target=/var/a,b",notmpcopyup,exec,tmpfs-size=5,tmpfs-mode=1777' \
  --mount type=tmpfs,target=/var/a:b,notmpcopyup,exec,tmpfs-size=1048576,tmpfs-mode=1777 \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}","target=/srv/pro""ject[1]	'\''}",ro,bind-nonrecursive=true' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/a","target=/srv/pro""ject[1]	'\''}/a"' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/b c",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/new
line",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/dou""ble","target=/srv/pro""ject[1]	'\''}/dou""ble"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/sin'\''gle","target=/srv/pro""ject[1]	'\''}/sin'\''gle"' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/co:lon",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/com,ma",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/$HOME","target=/srv/pro""ject[1]	'\''}/$HOME"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/%s%%","target=/srv/pro""ject[1]	'\''}/%s%%"' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/[1]",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/-rf",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/--","target=/srv/pro""ject[1]	'\''}/--"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/*","target=/srv/pro""ject[1]	'\''}/*"' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/?",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/back\slash",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/`id`","target=/srv/pro""ject[1]	'\''}/`id`"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/$(id)","target=/srv/pro""ject[1]	'\''}/$(id)"' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/tab	",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/..a","target=/srv/pro""ject[1]	'\''}/..a"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/...","target=/srv/pro""ject[1]	'\''}/..."' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/[31m",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/é",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/#","target=/srv/pro""ject[1]	'\''}/#"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/{a,b}","target=/srv/pro""ject[1]	'\''}/{a,b}"' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/~",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/ ",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/!","target=/srv/pro""ject[1]	'\''}/!"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/;","target=/srv/pro""ject[1]	'\''}/;"' \
  --mount 'type=bind,source=/dev/null,"target=/srv/pro""ject[1]	'\''}/&",ro,bind-nonrecursive=true,nodev' \
  --mount 'type=tmpfs,"target=/srv/pro""ject[1]	'\''}/=",ro,notmpcopyup,tmpfs-mode=0000' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/","target=/srv/pro""ject[1]	'\''}/"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/long","target=/srv/pro""ject[1]	'\''}/long"' \
  --mount 'type=bind,"source=/srv/pro""ject[1]	'\''}/tmp:fs","target=/srv/pro""ject[1]	'\''}/tmp:fs",ro,bind-nonrecursive=true' \
  docker.io/library/debian:stable-slim \
  "$@"
if [ "${UMWELT_ENV_TOKEN+set}" ]; then export TOKEN="$UMWELT_ENV_TOKEN"; else unset TOKEN; fi
exec "$@"
