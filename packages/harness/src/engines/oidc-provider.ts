// Runs a private identity provider: the npm package oidc-provider on loopback with the given accounts. Its page
// accepts every known account by login name, without a password.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export type OidcAccount = { id: string; email: string; name: string }
export type OidcProvider = Awaited<ReturnType<typeof startOidcProvider>>

const [clientId, clientSecret] = ['proxy', 'secret-of-the-client']
const page = `<!doctype html><title>Sign in</title>
<form method="post"><input name="login" autofocus><button>Sign in</button></form>`

/** Starts a provider for these accounts. Its client may redirect to `/-/login` on any host. */
export async function startOidcProvider(accounts: readonly OidcAccount[]) {
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = createProvider(issuer, accounts)
  const handleOidc = provider.callback()
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/interaction/') !== true) return handleOidc(request, response)
    response.setHeader('content-type', 'text/html')
    if (request.method !== 'POST') return void response.end(page)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const login = new URLSearchParams(Buffer.concat(chunks).toString()).get('login')
    const found = accounts.find(({ id, email }) => id === login || email === login)
    if (found === undefined) return void response.writeHead(403).end('unknown account')
    await provider.interactionFinished(request, response, { login: { accountId: found.id } })
  }
  return {
    issuer,
    clientId,
    clientSecret,
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function createProvider(issuer: string, accounts: readonly OidcAccount[]): Provider {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: ['http://127.0.0.1/-/login'],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email'], profile: ['name'] },
    cookies: { keys: ['key-of-a-test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    // Consent is granted automatically, because client and provider belong to the same organization.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    findAccount: (_context, id) => {
      const found = accounts.find((account) => account.id === id)
      if (found === undefined) return undefined
      return { accountId: id, claims: () => ({ sub: id, email: found.email, name: found.name }) }
    },
  })
  // Each test uses its own hosts and ports, so the redirect URIs cannot be registered in advance.
  provider.Client.prototype.redirectUriAllowed = (uri) => uri.endsWith('/-/login')
  provider.Client.prototype.postLogoutRedirectUriAllowed = () => true
  return provider
}
