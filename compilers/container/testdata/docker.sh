#!/bin/sh
# Made by umwelt 1.0 for docker: runs its arguments in a container, or a shell.
[ "$#" -gt 0 ] || set -- /bin/sh
d=$(mktemp -d /tmp/umwelt.XXXXXXXXXX) || exit 125
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
  --pids-limit -1 \
  --ulimit nofile=256:256 \
  --workdir /home/u/project \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env CI \
  --env LANG \
  --tmpfs /tmp:exec,mode=1777 \
  --mount type=bind,source=/usr,target=/usr,ro,bind-nonrecursive=true \
  --mount type=tmpfs,target=/home/u/project,ro,tmpfs-mode=0555 \
  --mount type=bind,source=/home/u/project/src/auth,target=/home/u/project/src/auth \
  --mount type=bind,source=/home/u/project/src/common,target=/home/u/project/src/common,ro,bind-nonrecursive=true \
  --mount type=bind,source=/home/u/project/tests,target=/home/u/project/tests,ro,bind-nonrecursive=true \
  --user "$(id -u):$(id -g)" \
  debian:stable-slim \
  "$@"
p=
end() { [ -z "$p" ] || kill "$p" 2>/dev/null; [ ! -s "$d/id" ] || docker rm --force "$(cat "$d/id")" >/dev/null 2>&1; rm -rf "$d"; }
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
shift 2
exec 3<&0
timeout --kill-after=5 300 docker run --sig-proxy=false --cidfile "$d/id" "$@" <&3 3<&- &
p=$!
wait "$p"
s=$?
p=
exit "$s"
