#!/usr/bin/env bash
# Puts a build on a server.
set -euo pipefail

# Where it goes.
readonly TARGET="/srv/app"
declare -r RETRIES=3
verbose=0

# Says what is done.
# Only when asked.
log() {
  local text="$1"
  if [[ $verbose -eq 1 ]]; then
    echo "$text"
  fi
}

function build {
  make all
}

function check_all() {
  cat <<'END'
not() { a function; }
END
}

log "start"
build && check_all
