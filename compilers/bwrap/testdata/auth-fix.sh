#!/bin/sh
# Made by umwelt 1.0 for bwrap: runs its arguments in the sandbox, or a shell.
[ "$#" -gt 0 ] || set -- /bin/sh
exec env -i PATH="$PATH" ${CI+"CI=$CI"} ${LANG+"LANG=$LANG"} \
  timeout --kill-after=5 300 prlimit --as=536870912 --nofile=256 \
  bwrap \
  --unshare-all \
  --die-with-parent \
  --new-session \
  --cap-drop ALL \
  --setenv PATH /usr/local/bin:/usr/bin:/bin \
  --symlink usr/bin /bin \
  --dev /dev \
  --perms 1777 \
  --tmpfs /dev/shm \
  --symlink usr/lib /lib \
  --symlink usr/lib64 /lib64 \
  --proc /proc \
  --tmpfs /tmp \
  --ro-bind /usr /usr \
  --perms 0555 \
  --tmpfs /home/u/project \
  --bind /home/u/project/src/auth /home/u/project/src/auth \
  --ro-bind /home/u/project/src/common /home/u/project/src/common \
  --ro-bind /home/u/project/tests /home/u/project/tests \
  --remount-ro /dev \
  --remount-ro /home/u/project \
  --remount-ro / \
  --chdir /home/u/project \
  -- "$@"
