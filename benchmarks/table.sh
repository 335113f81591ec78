#!/usr/bin/env bash
# The tables of docs/notebooks/kernel_forward.md, on one GPU in a few minutes:
#   benchmarks/table.sh OUT [long] [short] [narrow]      long: 32K, forward and backward; short: 8K to 2K; narrow: head_dim 64
# Compilers work on everything at once first, so that the timed process finds their caches filled.
set -u
out=${1:?usage: benchmarks/table.sh OUT [long] [short] [narrow]} python=${PYTHON:-python3} logs=$(mktemp -d)
shift
[ $# -gt 0 ] || set -- long
export FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED=1 PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
mkdir -p "$out"
sizes() {
  case $1 in
    long) echo "--backward --lengths 32768 --head-dims 128" ;;
    short) echo "--lengths 8192 4096 2048 --head-dims 128" ;;
    narrow) echo "--lengths 32768 --head-dims 64" ;;
    *) echo "unknown table: $1" >&2 && exit 2 ;;
  esac
}
for table in "$@"; do
  chosen=$(sizes "$table") || exit
  for workload in causal hstu reward clear clear_for_all; do
    # shellcheck disable=SC2086
    timeout 95 "$python" -m benchmarks.kernel --only-prepare $chosen --workloads "$workload" \
      >"$logs/$table-$workload" 2>&1 &
  done
done
wait
for table in "$@"; do
  case $table in long) limit=110 ;; short) limit=120 ;; narrow) limit=60 ;; esac
  # shellcheck disable=SC2046
  timeout $((limit + 25)) "$python" -m benchmarks.kernel $(sizes "$table") --milliseconds 40 --seconds $limit --out "$out/$table"
done
