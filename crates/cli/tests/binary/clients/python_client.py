"""Drives `strata serve` with the official Python client: lists the tools and calls `status`.

Usage: python_client.py STRATA HOME MODE, where MODE is `auto` (the client's choice) or `legacy`.
Prints one JSON object.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(strata: str, home: str, mode: str) -> None:
    server = StdioServerParameters(command=strata, args=["serve", "--home", home])
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        result = await client.call_tool("status", {})
        print(json.dumps({
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "instructions": client.instructions,
            "failed": result.is_error,
            "text": result.content[0].text,
        }))


asyncio.run(main(*sys.argv[1:4]))
