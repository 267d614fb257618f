import type { FastifyInstance } from 'fastify'
import { badRequest } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { ValidateCredential } from './credential.service.ts'
import type { PersonService } from './person.service.ts'

const bodyLimit = 16_384
const maxLength = { email: 320, name: 200, authorization: 8_192 }

/** The routes by which the trusted proxy asks who a caller is. */
export function registerProxyAuthRoutes(
  server: FastifyInstance,
  validateCredential: ValidateCredential,
  people: PersonService,
): void {
  const errorShape = 'validation' as const
  const proves = { proxy: 'the caller proves himself by the credential in the body' }
  server.post(
    '/api/validate-proxy-auth',
    { bodyLimit, config: { policy: proves, errorShape } },
    (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const body = fieldsOf(request.body)
      const header = readText(body, 'authorization_header', maxLength.authorization)
      if (header === null) throw badRequest('authorization_header is required')
      return validateCredential(header, readUuid(body, 'application_id'), request.clientNetwork)
    },
  )
  const vouches = { proxy: 'the proxy has signed the person in and vouches for the identity in the body' }
  server.post(
    '/api/validate-oauth-user',
    { bodyLimit, config: { policy: vouches, errorShape } },
    (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const body = fieldsOf(request.body)
      const person = {
        userId: readUuid(body, 'user_id'),
        email: readText(body, 'email', maxLength.email),
        name: readText(body, 'name', maxLength.name),
      }
      return people.validate(person, readUuid(body, 'application_id'), request.clientNetwork)
    },
  )
  const selector = { proxy: 'the proxy lets a signed-in person choose a tenant' }
  server.get('/api/proxy/user/:user_id/tenants', { config: { policy: selector } }, (request, reply) => {
    void reply.header('cache-control', 'no-store')
    const { user_id } = request.params as { user_id: string }
    const { application_id = '' } = request.query as { application_id?: unknown }
    if (typeof application_id !== 'string') throw badRequest('application_id must be given at most once')
    return people.listTenants(user_id, application_id === '' ? null : application_id)
  })
}

type Fields = Record<string, unknown>

function fieldsOf(body: unknown): Fields {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw badRequest('send a JSON object')
  return body as Fields
}

function readUuid(fields: Fields, name: string): string {
  const id = parseUuid(fields[name])
  if (id === null) throw badRequest(`${name} must be a UUID`)
  return id
}

/** A text of limited length; null when it is absent or empty. */
function readText(fields: Fields, name: string, limit: number): string | null {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw badRequest(`${name} must be a text`)
  if (value.length > limit) throw badRequest(`${name} must have at most ${limit} characters`)
  // What the database would store differently could never be found equal again.
  return value.trim() === '' ? null : value.trim().toWellFormed()
}
