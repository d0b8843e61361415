#!/bin/sh
# Writes what a command prints, a dump of pg_dump, to a new file in a folder, and deletes dumps of more than BACKUP_DAYS (14).
# A dump that fails leaves no file and deletes none: backup.sh FOLDER pg_dump --format=custom --no-owner gateway
set -eu
umask 077
folder=$1
shift
mkdir -p "$folder"
target="$folder/gateway-$(date -u +%Y%m%dT%H%M%SZ).dump"
trap 'rm -f "$target.partial"' EXIT
"$@" > "$target.partial"
# pg_dump can end well although its output was cut off, such as by `docker compose exec`.
test -s "$target.partial" || { echo 'the dump is empty' >&2; exit 1; }
mv "$target.partial" "$target"
find "$folder" -name 'gateway-*.dump' -mtime +"${BACKUP_DAYS:-14}" -delete
echo "$target"
