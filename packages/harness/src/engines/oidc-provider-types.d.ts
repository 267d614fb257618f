// Types for the parts of the npm package oidc-provider that oidc-provider.ts uses. The package ships no
// types.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }
  type Context = {
    oidc: {
      session: { accountId: string }
      provider: { Grant: new (of: { accountId: string; clientId: string }) => Grant }
    }
  }
  type Account = { accountId: string; claims: () => Record<string, string> }
  type Configuration = {
    clients: Record<string, string | string[]>[]
    claims: Record<string, string[]>
    cookies: { keys: string[] }
    features: Record<string, { enabled: boolean }>
    interactions: { url: (context: Context, interaction: { uid: string }) => string }
    loadExistingGrant: (context: Context) => Promise<Grant>
    findAccount: (context: Context, id: string) => Account | undefined
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    Client: {
      prototype: Record<'redirectUriAllowed' | 'postLogoutRedirectUriAllowed', (uri: string) => boolean>
    }
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string } },
    ): Promise<void>
  }
}
