"""WebShop: find the product that an instruction asks for among many, choose its options and buy it.

    search[men's t-shirt cotton]        click[B07XYZ1234]        click[navy blue]        click[Buy Now]

Pages, goals and reward are those of WebShop (Yao et al., 2022). codeplan includes a small catalogue; WebShop's own
files can be used instead.
"""

from __future__ import annotations

from codeplan.envs.webshop.agent import WebShopAgent
from codeplan.envs.webshop.environment import WebShop, WebShopSettings, make

__all__ = ["WebShop", "WebShopAgent", "WebShopSettings", "make"]
