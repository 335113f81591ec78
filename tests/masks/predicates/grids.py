"""Images and video: discs, neighbourhoods, windows and tiles."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Numbers, Parameters, axes, heads, library_mask, pairs


def _sides(random: Random, n: int) -> tuple[int, int]:
    height = random.randint(1, max(1, n // 2))
    return height, max(1, n // height)


def _canvas(random: Random, n: int) -> Parameters:
    height, width = _sides(random, n)
    return {"height": height, "width": width}


def _coordinates(*sides: int) -> list[Numbers]:
    """One array per dimension, in raster order, the last dimension fastest."""
    return [line.ravel() for line in np.indices(sides)]


def _clear(random: Random, n: int) -> Parameters:
    return _canvas(random, n) | {"text": random.randint(0, 9), "radius": random.randint(0, 6)}


@library_mask("clear", _clear)
def clear(text: int, height: int, width: int, radius: int) -> Mask:
    length = text + height * width
    q, k = axes(length)
    y, x = (np.arange(length) - text) // width, (np.arange(length) - text) % width
    (a, b), (c, d) = pairs(y), pairs(x)
    return (q < text) | (k < text) | ((a - b) ** 2 + (c - d) ** 2 < radius**2)


def _pooled(random: Random, n: int) -> Parameters:
    pool = random.randint(1, 3)
    height, width = _sides(random, max(1, n // pool**2))
    return {
        "text": random.randint(0, 5),
        "height": height * pool,
        "width": width * pool,
        "radius": random.randint(0, 5),
        "pool": pool,
    }


@library_mask("clear_pooled", _pooled)
def clear_pooled(text: int, height: int, width: int, radius: int, pool: int) -> Mask:
    square = clear(text, height, width, radius)
    coarse = np.zeros((len(square), (height // pool) * (width // pool)), bool)
    coarse[text:] = True
    return np.hstack([square, coarse])


def _natten_axis(extent: int, kernel: int, stride: int, dilation: int, causal: bool) -> Mask:
    """NATTEN's closed form of one dimension, [query, key]."""
    i, j = axes(extent)
    size = extent // dilation + (i % dilation < extent % dilation)
    a, b = i // dilation, j // dilation
    if causal:
        leader = np.minimum(a // stride * stride + stride - 1, size - 1)
        visible = (leader - kernel < b) & (b <= a)
    else:
        leader = np.minimum(a // stride * stride + stride // 2, size - 1)
        right = kernel // 2 + (kernel % 2 - 1)
        start = np.maximum(leader - kernel // 2, 0) + np.where(leader + right >= size, size - right - leader - 1, 0)
        visible = (start <= b) & (b < start + kernel)
    return visible & (i % dilation == j % dilation)


def _kron(masks: list[Mask]) -> Mask:
    whole = masks[0]
    for mask in masks[1:]:
        whole = np.kron(whole, mask).astype(bool)
    return whole


def _natten_options(random: Random, extents: list[int]) -> Parameters:
    """Kernels that fit into every residue group, as NATTEN demands."""
    dilation = [random.randint(1, 2 if extent >= 4 else 1) for extent in extents]
    kernel = [random.randint(1, extent // d) for extent, d in zip(extents, dilation, strict=True)]
    stride = [random.randint(1, k) for k in kernel]
    causal_axes = [random.randint(0, 1) for _ in extents]
    return {"kernel": kernel, "stride": stride, "dilation": dilation, "causal_axes": causal_axes}


def _natten_1d(random: Random, n: int) -> Parameters:
    options = _natten_options(random, [n])
    single = {name: values[0] for name, values in options.items()}
    return {"length": n, "causal_axis": single.pop("causal_axes")} | single


@library_mask("natten_1d", _natten_1d)
def natten_1d(length: int, kernel: int, stride: int, dilation: int, causal_axis: int) -> Mask:
    return _natten_axis(length, kernel, stride, dilation, bool(causal_axis))


def _natten_2d(random: Random, n: int) -> Parameters:
    height, width = _sides(random, n)
    return {"height": height, "width": width} | _natten_options(random, [height, width])


@library_mask("natten_2d", _natten_2d)
@library_mask("natten_2d_dilated", _natten_2d)
@library_mask("natten_2d_strided", _natten_2d)
def natten_2d(
    height: int, width: int, kernel: list[int], stride: list[int], dilation: list[int], causal_axes: list[int]
) -> Mask:
    options = zip((height, width), kernel, stride, dilation, causal_axes, strict=True)
    return _kron([_natten_axis(extent, k, s, d, bool(c)) for extent, k, s, d, c in options])


def _natten_3d(random: Random, n: int) -> Parameters:
    frames = random.randint(1, 4)
    height, width = _sides(random, max(1, n // frames))
    options = _natten_options(random, [frames, height, width])
    return {"frames": frames, "height": height, "width": width} | options


@library_mask("natten_3d", _natten_3d)
@library_mask("natten_3d_causal", _natten_3d)
def natten_3d(
    frames: int,
    height: int,
    width: int,
    kernel: list[int],
    stride: list[int],
    dilation: list[int],
    causal_axes: list[int],
) -> Mask:
    options = zip((frames, height, width), kernel, stride, dilation, causal_axes, strict=True)
    return _kron([_natten_axis(extent, k, s, d, bool(c)) for extent, k, s, d, c in options])


def _odd_kernel(random: Random, n: int) -> Parameters:
    return _canvas(random, n) | {"kernel": [random.choice([1, 3, 5, 7]) for _ in range(2)]}


@library_mask("neighbourhood_cut", _odd_kernel)
def neighbourhood_cut(height: int, width: int, kernel: list[int]) -> Mask:
    y, x = _coordinates(height, width)
    (a, b), (c, d) = pairs(y), pairs(x)
    return (np.abs(a - b) <= kernel[0] // 2) & (np.abs(c - d) <= kernel[1] // 2)


@library_mask("coarse_cells", lambda random, n: _canvas(random, n) | {"cell": random.randint(1, 5)})
def coarse_cells(height: int, width: int, cell: int) -> Mask:
    y, x = _coordinates(height, width)
    (a, b), (c, d) = pairs(y // cell), pairs(x // cell)
    return (np.abs(a - b) <= 1) & (np.abs(c - d) <= 1)


def _tiles(random: Random, n: int) -> Parameters:
    frames = random.randint(1, 3)
    height, width = _sides(random, max(1, n // frames))
    return {
        "frames": frames,
        "height": height,
        "width": width,
        "tile": [random.randint(1, 3) for _ in range(3)],
        "text": random.randint(0, 5),
        "padded": random.randint(0, 4),
        "windows": [[random.randint(1, 4) for _ in range(3)] for _ in range(2)],
    }


def _tile_window(tiles: Numbers, extent: int, size: int) -> Mask:
    """Tiles within a window of `size` tiles whose centre is kept away from the border; all if it is too large."""
    if size >= extent:
        return np.ones((len(tiles), len(tiles)), bool)
    centre = np.clip(tiles, size // 2, extent - 1 - (size - 1 - size // 2))
    distance = tiles[None, :] - centre[:, None]
    return (distance >= -(size // 2)) & (distance < size - size // 2)


@library_mask("sliding_tiles", _tiles)
def sliding_tiles(
    frames: int,
    height: int,
    width: int,
    tile: list[int],
    text: int,
    padded: int,
    windows: list[list[int]],
) -> Mask:
    places = [line // side for line, side in zip(_coordinates(frames, height, width), tile, strict=True)]
    stored = np.lexsort((np.arange(len(places[0])), places[2], places[1], places[0]))
    places = [place[stored] for place in places]
    video = len(stored)
    length = video + text + padded
    masks = []
    for sizes in windows:
        mask = np.zeros((length, length), bool)
        mask[: video + text, : video + text] = True
        for place, size in zip(places, sizes, strict=True):
            mask[:video, :video] &= _tile_window(place, int(place.max()) + 1, size)
        masks.append(mask)
    return heads(masks)


def _windows(random: Random, n: int) -> Parameters:
    size = random.randint(1, 5)
    height, width = _sides(random, max(1, n // size**2))
    return {"height": height * size, "width": width * size, "size": size, "shift": random.randint(0, size - 1)}


@library_mask("swin", _windows)
@library_mask("swin_shifted", _windows)
def swin(height: int, width: int, size: int, shift: int) -> Mask:
    """The labels of the original: roll by -shift, same window and same of nine regions."""
    y, x = _coordinates(height, width)
    rolled_y, rolled_x = (y - shift) % height, (x - shift) % width

    def region(line: Numbers, extent: int) -> Numbers:
        if shift == 0:
            return np.zeros_like(line)
        return (line >= extent - size).astype(np.int64) + (line >= extent - shift)

    label = region(rolled_y, height) * 3 + region(rolled_x, width)
    window = rolled_y // size * (width // size) + rolled_x // size
    (a, b), (c, d) = pairs(label), pairs(window)
    return (a == b) & (c == d)


@library_mask("axial", _canvas)
def axial(height: int, width: int) -> Mask:
    y, x = _coordinates(height, width)
    (a, b), (c, d) = pairs(y), pairs(x)
    return (a == b) | (c == d)


def _video(random: Random, n: int) -> Parameters:
    frames = random.randint(1, 5)
    return {
        "prompt": random.randint(0, 6),
        "frames": frames,
        "frame": max(1, n // frames),
        "band": random.randint(1, n),
    }


@library_mask("svg_spatial", _video)
def svg_spatial(prompt: int, frames: int, frame: int, band: int) -> Mask:
    q, k = axes(prompt + frames * frame)
    return (q < prompt) | (k < prompt + frame) | (np.abs(q - k) < band)


@library_mask("svg_temporal", _video)
def svg_temporal(prompt: int, frames: int, frame: int, band: int) -> Mask:
    q, k = axes(prompt + frames * frame)
    near = np.abs((q - prompt) % frame - (k - prompt) % frame) < band
    return (q < prompt) | (k < prompt) | near


@library_mask("video_frames", lambda random, n: {"frames": random.randint(1, 6), "frame": max(1, n // 6)})
def video_frames(frames: int, frame: int) -> Mask:
    blocks = np.eye(frames, dtype=bool) | np.eye(frames, k=-1, dtype=bool)
    blocks[:, 0] = True
    return np.kron(blocks, np.ones((frame, frame), bool)).astype(bool)
