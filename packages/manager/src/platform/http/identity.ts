// Reads the identity that the proxy forwards. The gate has already admitted the request.
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { Metrics } from '../metrics.ts'
import { decodeHeader, readSingleHeader } from './headers.ts'

/** The subject is the user's id; name and e-mail are null if the proxy does not send them. */
export type Identity = { subject: string; email: string | null; name: string | null }

/** Identity of a caller without identity headers while the development escape hatch is open. */
export const developmentIdentity: Identity = {
  subject: '00000000-0000-4000-8000-000000000001',
  email: 'developer@localhost',
  name: 'Development Administrator',
}

const maxEmailLength = 320
const maxNameLength = 200

/** Reads the identity headers; throws 401 if they are absent, repeated or malformed. */
export function readIdentity(
  request: IncomingMessage,
  fallback: Identity | null,
  metrics: Metrics,
): Identity {
  const refuse = (reason: 'no_identity' | 'identity', text: string): never => {
    metrics.gateRejections.inc({ reason })
    throw new AppError('unauthenticated', text)
  }
  const readHeader = (name: string, maxLength: number): string | null => {
    const header = readSingleHeader(request, name)
    if (header === 'repeated')
      return refuse('identity', `invalid authenticated user: ${name} is sent more than once`)
    if (header === null) return null
    const text = decodeHeader(header.value).trim()
    if (text.length > maxLength) return refuse('identity', `invalid authenticated user: ${name} is too long`)
    return text === '' ? null : text
  }
  const subject = readHeader('x-token-subject', 100)
  const email = readHeader('x-token-user-email', maxEmailLength)
  const name = readHeader('x-token-user-name', maxNameLength)
  if (subject === null) {
    if (fallback !== null) return fallback
    return refuse('no_identity', 'no authenticated user: the proxy did not forward X-Token-Subject')
  }
  const id = parseUuid(subject)
  if (id === null) return refuse('identity', 'invalid authenticated user: X-Token-Subject is not a UUID')
  return { subject: id, email, name }
}

/** A user and a tenant, which the proxy forwards on routes without a project. */
export type TenantUser = { userId: string; tenantId: string }

/** Reads X-User-Id and X-Tenant-Id; throws 401 if one is absent, repeated or not a UUID. */
export function readTenantUser(request: IncomingMessage, metrics: Metrics): TenantUser {
  const readHeader = (name: string, headerName: string): string => {
    const header = readSingleHeader(request, name)
    const id = header === null || header === 'repeated' ? null : parseUuid(header.value.trim())
    if (id !== null) return id
    metrics.gateRejections.inc({ reason: header === null ? 'no_identity' : 'identity' })
    if (header === null)
      throw new AppError('unauthenticated', `no authenticated user: the proxy did not forward ${headerName}`)
    const problem = header === 'repeated' ? 'is sent more than once' : 'is not a UUID'
    throw new AppError('unauthenticated', `invalid authenticated user: ${headerName} ${problem}`)
  }
  return { userId: readHeader('x-user-id', 'X-User-Id'), tenantId: readHeader('x-tenant-id', 'X-Tenant-Id') }
}
