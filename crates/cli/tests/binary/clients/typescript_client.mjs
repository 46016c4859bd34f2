// Drives `strata serve` with an official TypeScript client: lists the tools and calls `status`.
// Usage: node typescript_client.mjs STRATA HOME PACKAGE, where PACKAGE is `sdk` (version 1) or
// `client` (version 2). Prints one JSON object.
const [strata, home, which] = process.argv.slice(2);
const modules = {
  sdk: ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"],
  client: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
}[which];
const { Client } = await import(modules[0]);
const { StdioClientTransport } = await import(modules[1]);

const client = new Client({ name: "typescript-check", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: strata, args: ["serve", "--home", home] }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: "status", arguments: {} });
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  instructions: client.getInstructions(),
  failed: result.isError ?? false,
  text: result.content[0].text,
}));
await client.close();
