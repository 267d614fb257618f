import type { ApiServer } from '../../platform/http/declarations.ts'
import type { ValidateCredential } from './credential.service.ts'
import type { PersonService } from './person.service.ts'
import { listTenantsSchema, validateCredentialSchema, validatePersonSchema } from './proxy-auth.schemas.ts'

const bodyLimit = 16_384
const malformed = 400

/** Registers the routes with which the trusted proxy identifies callers. */
export function registerProxyAuthRoutes(
  server: ApiServer,
  validateCredential: ValidateCredential,
  people: PersonService,
): void {
  const errorShape = 'validation' as const
  const proves = { proxy: 'the credential in the body authenticates the caller' }
  server.post(
    '/api/validate-proxy-auth',
    { bodyLimit, config: { policy: proves, errorShape }, schema: validateCredentialSchema },
    ({ body, clientNetwork }, reply) => {
      void reply.header('cache-control', 'no-store')
      const header = body.authorization_header.trim().toWellFormed()
      return validateCredential(header, body.application_id.toLowerCase(), clientNetwork)
    },
  )
  const vouches = { proxy: 'the proxy has signed the person in and vouches for the identity in the body' }
  server.post(
    '/api/validate-oauth-user',
    {
      bodyLimit,
      config: { policy: vouches, errorShape },
      schema: validatePersonSchema,
      onRequest: ({ clientNetwork }) => people.refuseLocked(clientNetwork),
      // The failure is counted before the response is sent, so that the next request of the client sees the new count.
      onSend: async ({ clientNetwork }, reply, payload) => {
        if (reply.statusCode === malformed) await people.noteMalformed(clientNetwork, messageOf(payload))
      },
    },
    ({ body, clientNetwork }, reply) => {
      void reply.header('cache-control', 'no-store')
      const person = {
        userId: body.user_id.toLowerCase(),
        email: textOrNull(body.email),
        name: textOrNull(body.name),
      }
      return people.validate(person, body.application_id.toLowerCase(), clientNetwork)
    },
  )
  const selector = { proxy: 'the proxy lets a signed-in person choose a tenant' }
  server.get(
    '/api/proxy/user/:user_id/tenants',
    { config: { policy: selector }, schema: listTenantsSchema },
    ({ params, query }, reply) => {
      void reply.header('cache-control', 'no-store')
      const { application_id = '' } = query
      return people.listTenants(params.user_id, application_id === '' ? null : application_id)
    },
  )
}

/** Returns the error message for the log. It contains field names but no values of the request. */
const messageOf = (payload: unknown): string =>
  (JSON.parse(String(payload)) as { message: string }).message.slice(0, 200)

/** Returns null for an absent or blank text. Text that is not well-formed would never equal the stored value. */
function textOrNull(value: string | null | undefined): string | null {
  const text = (value ?? '').trim().toWellFormed()
  return text === '' ? null : text
}
