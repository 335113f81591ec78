"""Token orders applied to tensors: what the gather kernel takes, in the interpreter where there is no GPU."""

from __future__ import annotations

import pytest
import torch

from compilemask.kernel.reorder import _take, in_order

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("width", [16, 24, 80, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_the_gather_kernel_takes_rows_of_any_strides(width: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    order = torch.randperm(301, generator=generator).to(DEVICE)
    plain = torch.randn(2, 3, 301, width, generator=generator).to(DEVICE, dtype)
    turned = plain.transpose(1, 2).contiguous().transpose(1, 2)
    shared = plain[:, :1].expand(-1, 3, -1, -1)
    wider = torch.cat((plain, plain), 3)[..., 1 : width + 1]
    for tensor in (plain, turned, shared, wider):
        assert torch.equal(_take(tensor, order), tensor[:, :, order])
        assert torch.equal(in_order(tensor, order), tensor[:, :, order])


def test_some_rows_and_no_rows() -> None:
    tensor = torch.randn(1, 2, 40, 16, device=DEVICE)
    for order in ([39, 0, 0, 7], []):
        chosen = torch.tensor(order, dtype=torch.int64, device=DEVICE)
        assert torch.equal(_take(tensor, chosen), tensor[:, :, chosen])
