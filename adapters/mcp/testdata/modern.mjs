// A server of the protocol 2026-07-28 alone, on npm's SDK in the folder MCP_SDK: it speaks on its standard input and output.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.env.MCP_SDK + '/')
const load = name => import(pathToFileURL(require.resolve(name)))
const { McpServer, inputRequired } = await load('@modelcontextprotocol/server')
const { serveStdio } = await load('@modelcontextprotocol/server/stdio')
const { z } = await load('zod')

const text = said => ({ content: [{ type: 'text', text: said }] })

serveStdio(() => {
  const server = new McpServer({ name: 'npm', version: '1' })
  server.registerTool('greet', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => text('Hello, ' + name))
  server.registerTool('ask', { inputSchema: z.object({}) }, (_, ctx) => {
    const said = ctx.mcpReq.inputResponses
    if (said) return text(JSON.stringify(said))
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }) },
      requestState: 'asked',
    })
  })
  return server
}, { legacy: 'reject' })
