"""Attention kernels that read a descriptor: portable Triton, Gluon for Hopper, and plain PyTorch for the CPU."""
