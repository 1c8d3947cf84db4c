// An authorization server for tests: npm's oidc-provider, as its users configure it. Everybody is logged in as "alice" and consents. It prints its
// issuer and answers more paths: /test/forget?AccessToken forgets all access tokens, /test/forget all that it gave, /test/count says how many refreshes it
// answered.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.env.MCP_SDK + '/package.json')
const { Provider, errors, interactionPolicy } = await import(pathToFileURL(require.resolve('oidc-provider')))

const resources = process.env.RESOURCES.split(' ')
let kept = new Map()
class Memory {
  constructor(kind) { this.kind = kind }
  key(id) { return this.kind + ':' + id }
  async upsert(id, payload) { kept.set(this.key(id), payload) }
  async find(id) { return kept.get(this.key(id)) }
  async findByUid(uid) { return [...kept].find(([k, v]) => k.startsWith(this.kind + ':') && v.uid === uid)?.[1] }
  async destroy(id) { kept.delete(this.key(id)) }
  async consume(id) { kept.get(this.key(id)).consumed = Math.floor(Date.now() / 1000) }
  async revokeByGrantId(grant) { for (const [k, v] of kept) if (v.grantId === grant) kept.delete(k) }
}

let provider
let refreshes = 0
const server = createServer(async (req, res) => {
  if (req.url === '/test/count') return res.end(String(refreshes))
  if (req.url.startsWith('/test/forget')) {
    const kind = req.url.split('?')[1]
    for (const k of [...kept.keys()]) if (kind ? k.startsWith(kind + ':') : !k.startsWith('Client:')) kept.delete(k)
    return res.end()
  }
  if (req.url.startsWith('/interaction/')) {
    const details = await provider.interactionDetails(req, res)
    const { prompt, params } = details
    if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: 'alice' } })
    const grant = new provider.Grant({ accountId: 'alice', clientId: params.client_id })
    grant.addOIDCScope('openid offline_access mcp')
    for (const resource of resources) grant.addResourceScope(resource, 'mcp')
    return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true })
  }
  provider.callback()(req, res)
})
server.listen(0, '127.0.0.1', () => {
  const issuer = 'http://127.0.0.1:' + server.address().port
  provider = new Provider(issuer, {
    adapter: Memory,
    clients: [{
      client_id: 'by-hand', client_secret: 'the-secret-of-by-hand', application_type: 'native', redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    }],
    cookies: { keys: ['a test'] },
    scopes: ['openid', 'offline_access', 'mcp'],
    ttl: { AccessToken: Number(process.env.TOKEN_SECONDS || 3600), RefreshToken: 86400, Session: 3600, Grant: 86400, Interaction: 600 },
    rotateRefreshToken: true,
    interactions: { url: (_, interaction) => '/interaction/' + interaction.uid },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo(_, resource) {
          if (!resources.includes(resource)) throw new errors.InvalidTarget()
          return { scope: 'mcp', audience: process.env.AUDIENCE || resource, accessTokenTTL: Number(process.env.TOKEN_SECONDS || 3600), accessTokenFormat: 'opaque' }
        },
      },
    },
  })
  provider.on('grant.success', ctx => { if (ctx.oidc.params.grant_type === 'refresh_token') refreshes++ })
  provider.on('server_error', (_, err) => console.error(err))
  console.log(issuer)
})
process.stdin.on('end', () => process.exit()).resume()
