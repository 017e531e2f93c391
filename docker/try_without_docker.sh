#!/bin/sh
# Runs the Dockerfile's steps in a Debian made by debootstrap, and its command by runc with the same seccomp profile,
# for machines that cannot pull images. As root: docker/try_without_docker.sh FOLDER [COMMAND OF codeplan…]
# Needs debootstrap and runc. PIP_FOLDERS names folders and files of this machine that pip needs inside, such as
# /etc/pip.conf and /etc/ssl/certs/ca-certificates.crt.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [COMMAND OF codeplan…]" >&2; exit 2; }
for program in debootstrap runc; do
  command -v "$program" >/dev/null || { echo "$0 needs $program: apt-get install $program" >&2; exit 1; }
done
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
root=$folder/rootfs
inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }

if [ ! -e "$root/.debian" ]; then
  echo "Making a Debian in $root …"
  debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates stable "$root" >"$folder/debootstrap.log"
  touch "$root/.debian"
fi
if [ ! -e "$root/.installed" ]; then
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  for needed in ${PIP_FOLDERS:-}; do
    mkdir -p "$root$(dirname "$needed")"
    cp -aL "$needed" "$root$(dirname "$needed")/"
  done
  echo "Installing codeplan there …"
  mkdir -p "$root/source"
  tar -C "$source" --exclude-from="$source/.dockerignore" -c . | tar -C "$root/source" -x
  inside python3 -m venv /opt/codeplan
  inside /opt/codeplan/bin/pip wheel -q --no-cache-dir --wheel-dir /wheels "/source[mcp,monty]"
  inside /opt/codeplan/bin/pip install -q --no-cache-dir --no-index --find-links /wheels "codeplan[mcp,monty]"
  inside useradd --create-home --uid 10001 codeplan
  rm -rf "$root/source" "$root/wheels"
  touch "$root/.installed"
fi

run() {
  python3 "$source/docker/container_config.py" "$source/docker/seccomp.json" /opt/codeplan/bin/codeplan "$@" \
    >"$folder/config.json"
  runc run --bundle "$folder" "codeplan-$$"
}
if [ $# -gt 0 ]; then
  run "$@"
else
  run doctor
  run run household --task clean/22 --mistakes forgotten_walk
fi
