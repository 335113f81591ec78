#!/usr/bin/env bash
# The tables of docs/notebooks/kernel_forward.md and the README, on one GPU in a few minutes:  benchmarks/table.sh OUT
# Compilers work on all masks at once first, so that the timed process finds their caches filled.
set -u
out=${1:?usage: benchmarks/table.sh OUT} python=${PYTHON:-python3}
export FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED=1 PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
mkdir -p "$out"
for workload in causal hstu reward clear; do
  timeout 75 "$python" -m benchmarks.kernel --only-prepare --backward --lengths 32768 --head-dims 128 \
    --workloads "$workload" >"$out/prepare_$workload.log" 2>&1 &
done
wait
timeout 120 "$python" -m benchmarks.kernel --backward --lengths 32768 --head-dims 128 --seconds 85 --out "$out/long"
timeout 45 "$python" -m benchmarks.kernel --lengths 8192 4096 2048 --head-dims 128 --peers "cuDNN flex" FA4 \
  --milliseconds 25 --seconds 32 --out "$out/short"
timeout 40 "$python" -m benchmarks.kernel --lengths 32768 --head-dims 64 --peers "cuDNN flex" FA4 \
  --workloads causal hstu reward clear clear_patches --milliseconds 40 --seconds 28 --out "$out/narrow"
