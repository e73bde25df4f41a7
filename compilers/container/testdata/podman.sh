#!/bin/sh
# Made by umwelt 1.0 for podman: runs its arguments in a container, or a shell.
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
  --pids-limit -1 \
  --ulimit nofile=256:256 \
  --ulimit nproc=32768:32768 \
  --timeout 300 \
  --workdir /home/u/project \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env CI \
  --env LANG \
  --mount type=tmpfs,target=/tmp,notmpcopyup,exec,tmpfs-mode=1777 \
  --mount type=bind,source=/usr,target=/usr,ro,bind-nonrecursive=true \
  --mount type=tmpfs,target=/home/u/project,ro,notmpcopyup,tmpfs-mode=0555 \
  --mount type=bind,source=/home/u/project/src/auth,target=/home/u/project/src/auth \
  --mount type=bind,source=/home/u/project/src/common,target=/home/u/project/src/common,ro,bind-nonrecursive=true \
  --mount type=bind,source=/home/u/project/tests,target=/home/u/project/tests,ro,bind-nonrecursive=true \
  docker.io/library/debian:stable-slim \
  "$@"
exec "$@"
