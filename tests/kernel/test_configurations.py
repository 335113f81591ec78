"""Launch configurations: every family and width has one, and unknown GPUs get the family they resemble."""

from __future__ import annotations

import pytest
import torch

from compilemask.kernel.configurations import Family, family_of, forward_configuration, padded, warp_specializes


@pytest.mark.parametrize(
    ("capability", "family"),
    [((8, 0), Family.AMPERE), ((8, 6), Family.CONSUMER), ((8, 9), Family.CONSUMER), ((9, 0), Family.HOPPER),
     ((10, 0), Family.BLACKWELL), ((10, 3), Family.BLACKWELL), ((12, 0), Family.CONSUMER)],
)  # fmt: skip
def test_family(capability: tuple[int, int], family: Family) -> None:
    assert family_of(capability) is family


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_every_width_has_a_configuration(family: Family, dtype: torch.dtype) -> None:
    for head_dim in (1, 16, 40, 64, 80, 96, 128, 192, 256):
        configuration = forward_configuration(family, dtype, head_dim, 16)
        assert configuration.block_n % 32 == 0
        assert configuration.block_m & (configuration.block_m - 1) == 0


def test_padded_width() -> None:
    assert [padded(d) for d in (1, 16, 17, 80, 128, 192)] == [16, 16, 32, 128, 128, 256]


def test_warp_specialisation_is_chosen_by_version() -> None:
    assert warp_specializes(Family.BLACKWELL, "3.9.0")
    assert warp_specializes(Family.BLACKWELL, "4.0.0")
    assert not warp_specializes(Family.BLACKWELL, "3.7.1")
    assert not warp_specializes(Family.HOPPER, "3.9.0")
