"""A neural policy for a cart-pole, trained in PyTorch by gradients through rollouts; needs torch (extra adapters).

The policy is recorded into the rollout's machine code, and its weights are parameters: one call runs 64 robots for 150 steps,
another carries the gradient back through all of them.
"""

import torch

import torsor as ts
from torsor.adapters import torch_rollout
from torsor.scalar import tanh
from torsor.simulate import record_once


@record_once
def policy(q, v, W1, b1, W2):
    """Force on the cart [N] from a hidden layer of eight neurons; the pole has no motor."""
    state = [*q, *v]
    hidden = [tanh(b + sum(w * x for w, x in zip(row, state, strict=True))) for row, b in zip(W1, b1, strict=True)]
    return [20.0 * sum(w * h for w, h in zip(W2, hidden, strict=True)), 0.0]


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    robot = ts.robots.cart_pole()
    run = torch_rollout(robot, dt=0.02, steps=150, controller=policy)
    shapes = {"W1": (8, 4), "b1": (8,), "W2": (8,)}
    weights = {name: (0.3 * torch.randn(shape)).requires_grad_() for name, shape in shapes.items()}
    optimizer = torch.optim.Adam(weights.values(), lr=0.05)

    for step in range(201):
        start = 0.6 * (torch.rand(64, 2) - 0.5)  # the cart within ±0.3 m, the pole within ±0.3 rad of upright
        q, v = run(start, torch.zeros(64, 2), parameters=weights)
        loss = q.square().mean() + 0.1 * v.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.4f}, the pole ends within {q[:, -1, 1].abs().max().item():.3f} rad")
