// Calls tools of an MCP server with the official TypeScript SDK, and prints what each returns, one JSON text a line. The SDK is in the folder
// that MCP_SDK names. Arguments: the server's URL, or "stdio" and a program; then pairs of a tool's name and its arguments.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
const require = createRequire(process.env.MCP_SDK + '/index.js')
const load = name => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)))
const { Client } = await load('client/index.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')
const { StdioClientTransport } = await load('client/stdio.js')
const args = process.argv.slice(2)
let transport
if (args[0] === 'stdio') {
  transport = new StdioClientTransport({ command: args[1], args: ['mcp'], env: process.env })
  args.splice(0, 2)
} else {
  transport = new StreamableHTTPClientTransport(new URL(args.shift()), { requestInit: { headers: { Authorization: 'Bearer ' + process.env.GATEHOUSE_TOKEN } } })
}
const client = new Client({ name: 'coding-agent', version: '1' })
await client.connect(transport)
const { tools } = await client.listTools()
console.log(JSON.stringify(tools.map(t => t.name)))
while (args.length > 0) {
  const result = await client.callTool({ name: args.shift(), arguments: JSON.parse(args.shift()) }, undefined, { timeout: 120000 })
  console.log(JSON.stringify(result.isError ? { error: result.content[0].text } : result.structuredContent))
}
await client.close()
