import type { ApiServer } from '../../platform/http/declarations.ts'
import type { ValidateCredential } from './credential.service.ts'
import type { PersonService } from './person.service.ts'
import { listTenantsSchema, validateCredentialSchema, validatePersonSchema } from './proxy-auth.schemas.ts'

const bodyLimit = 16_384
const malformedStatus = 400

/** Registers the routes that the trusted proxy uses to identify callers. */
export function registerProxyAuthRoutes(
  server: ApiServer,
  validateCredential: ValidateCredential,
  people: PersonService,
): void {
  const errorShape = 'validation' as const
  const credentialPolicy = { proxy: 'the credential in the body authenticates the caller' }
  server.post(
    '/api/validate-proxy-auth',
    { bodyLimit, config: { policy: credentialPolicy, errorShape }, schema: validateCredentialSchema },
    ({ body, clientNetwork }, reply) => {
      void reply.header('cache-control', 'no-store')
      const header = body.authorization_header.trim().toWellFormed()
      return validateCredential(header, body.application_id.toLowerCase(), clientNetwork)
    },
  )
  const personPolicy = {
    proxy: 'the proxy has signed the person in and is trusted to send the correct identity in the body',
  }
  server.post(
    '/api/validate-oauth-user',
    {
      bodyLimit,
      config: { policy: personPolicy, errorShape },
      schema: validatePersonSchema,
      onRequest: ({ clientNetwork }) => people.refuseLocked(clientNetwork),
      // The failure is counted before the response is sent, so that the next request of the client sees the new count.
      onSend: async ({ clientNetwork }, reply, payload) => {
        if (reply.statusCode === malformedStatus)
          await people.countMalformed(clientNetwork, parseMessage(payload))
      },
    },
    ({ body, clientNetwork }, reply) => {
      void reply.header('cache-control', 'no-store')
      const person = {
        userId: body.user_id.toLowerCase(),
        email: normalizeText(body.email),
        name: normalizeText(body.name),
      }
      return people.validate(person, body.application_id.toLowerCase(), clientNetwork)
    },
  )
  const tenantsPolicy = { proxy: 'the proxy lets a signed-in person choose a tenant' }
  server.get(
    '/api/proxy/user/:user_id/tenants',
    { config: { policy: tenantsPolicy }, schema: listTenantsSchema },
    ({ params, query }, reply) => {
      void reply.header('cache-control', 'no-store')
      const { application_id = '' } = query
      return people.listTenants(params.user_id, application_id === '' ? null : application_id)
    },
  )
}

/** Returns the error message for the log. It contains field names but no values of the request. */
const parseMessage = (payload: unknown): string =>
  (JSON.parse(String(payload)) as { message: string }).message.slice(0, 200)

/**
 * Returns null for an absent or blank value. A string that is not well-formed would never equal the stored
 * value.
 */
function normalizeText(value: string | null | undefined): string | null {
  const text = (value ?? '').trim().toWellFormed()
  return text === '' ? null : text
}
