#!/usr/bin/env bash
# The tables of docs/notebooks/kernel_forward.md, on one GPU in a few minutes:
#   benchmarks/table.sh OUT [long] [short] [narrow]      long: 32K, forward and backward, all peers; the default
# Compilers work on all masks at once first, so that the timed process finds their caches filled.
set -u
out=${1:?usage: benchmarks/table.sh OUT [long] [short] [narrow]} python=${PYTHON:-python3} logs=$(mktemp -d)
shift
export FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED=1 PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
mkdir -p "$out"
for table in "${@:-long}"; do
  case $table in
    long)
      for workload in causal hstu reward clear; do
        timeout 65 "$python" -m benchmarks.kernel --only-prepare --backward --lengths 32768 --head-dims 128 \
          --workloads "$workload" >"$logs/$workload" 2>&1 &
      done
      wait
      timeout 110 "$python" -m benchmarks.kernel --backward --lengths 32768 --head-dims 128 --milliseconds 50 \
        --seconds 85 --out "$out/long"
      ;;
    short)
      timeout 45 "$python" -m benchmarks.kernel --lengths 8192 4096 2048 --head-dims 128 --peers "cuDNN flex" FA4 \
        --milliseconds 25 --seconds 30 --out "$out/short"
      ;;
    narrow)
      timeout 40 "$python" -m benchmarks.kernel --lengths 32768 --head-dims 64 --peers "cuDNN flex" FA4 \
        --workloads causal hstu reward clear clear_patches --milliseconds 40 --seconds 25 --out "$out/narrow"
      ;;
    *) echo "unknown table: $table" >&2 && exit 2 ;;
  esac
done
