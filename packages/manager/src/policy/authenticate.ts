// In front of every route, before its body is read: who is calling. A route is behind the proxy gate unless its policy
// says otherwise, so an address that matches no route is gated too; below the machine prefixes a machine token takes
// the gate's place.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Activity } from '../platform/credentials/activity.ts'
import { parseAuthorization } from '../platform/credentials/authorization.ts'
import type { AuthFailures, FailureKind } from '../platform/credentials/auth-failures.ts'
import type { Db } from '../platform/postgres/handles.ts'
import { type Owned, runOwned, setCaller, setOwner } from '../platform/postgres/owner.ts'
import { type ClientAddress, clientNetwork } from '../platform/http/client-address.ts'
import { AppError } from '../platform/errors.ts'
import type { Gate } from '../platform/http/gate.ts'
import { presentedAuthorization } from '../platform/http/headers.ts'
import { type Identity, type TenantUser, readIdentity, readTenantUser } from '../platform/http/identity.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Actor, type ActorUser, createActor } from './actor.ts'
import { type Policy, authorizeRoute } from './authorize.ts'
import type { Scopes } from './scopes.ts'

/** A machine user that has proved its token. */
export type Machine = {
  id: string
  name: string
  username: string
  environmentId: string
  projectId: string
  /** Of the endpoints of its project. */
  endpointsVersion: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set on every route that needs a user. */
    actor: Actor | undefined
    /** The caller on routes for machine users. */
    machine: Machine | undefined
    /** Whom the proxy names, on routes for a user in a tenant. */
    tenantUser: TenantUser | undefined
    /** True when the request came with the correct proxy secret. */
    isFromProxy: boolean
    /** Where the request comes from, as far as the proxies that forwarded it are trusted. */
    readonly clientAddress: string
    /** The same, as throttles count clients. */
    readonly clientNetwork: string
    /** Whom its statements count for; null until the first hook. */
    owned: Owned | null
  }
}

export type AuthenticateOptions = {
  db: Db
  scopes: Scopes
  gate: Gate
  metrics: Metrics
  authFailures: Pick<AuthFailures, 'fail'>
  clientAddress: ClientAddress
  /** Who was admitted is active. */
  activity: Pick<Activity, 'noteUser' | 'noteMachineUser'>
  fallbackIdentity: Identity | null
  provision: (identity: Identity) => Promise<ActorUser>
  /** The owner of a personal access token, and its id; throws 401, or 429 where hashing it was tried too often. */
  tokenOwner: (token: string) => Promise<{ user: ActorUser; tokenId: string }>
  /** The machine user behind an Authorization header; throws 401 or 429. */
  machineOf: (authorization: string | null, client: string) => Promise<Machine>
}

const machinePrefixes = ['/api/machine/', '/esb/']

/** Registers the one hook that admits or refuses callers. */
export function authenticate(server: FastifyInstance, options: AuthenticateOptions): void {
  server.decorateRequest('actor', undefined)
  server.decorateRequest('machine', undefined)
  server.decorateRequest('tenantUser', undefined)
  server.decorateRequest('isFromProxy', false)
  server.decorateRequest('owned', null)
  // Computed only where it is read.
  server.decorateRequest('clientAddress', {
    getter() {
      return options.clientAddress(this.raw, this.isFromProxy)
    },
  })
  server.decorateRequest('clientNetwork', {
    getter() {
      return clientNetwork(this.clientAddress)
    },
  })
  // Not an async function: a request that needs only the gate goes on at once.
  server.addHook('onRequest', (request, _reply, done) => {
    // The caller's own words are enough to take turns until the caller is known.
    const { 'x-token-subject': subject, authorization } = request.headers
    const owned: Owned = { caller: String(subject ?? authorization ?? ''), projectId: null }
    const admission = runOwned(owned, () => admit(request, options))
    request.owned = owned
    if (admission !== null) return admission
    // Not by the headers: on these routes nothing verifies them.
    owned.caller = request.clientNetwork
    done()
  })
  // Fastify loses the async context while it reads a body, so the owner is set after that.
  server.addHook('preHandler', ({ owned }, _reply, done) => {
    if (owned === null) done()
    else runOwned(owned, done)
  })
}

/** Null when the request may go on; throws, or the promise rejects, when it may not. */
function admit(request: FastifyRequest, options: AuthenticateOptions): Promise<void> | null {
  const policy = request.routeOptions.config.policy
  const isMachineAddress = request.is404 && machinePrefixes.some((prefix) => request.url.startsWith(prefix))
  const isGated = !isMachineAddress && (policy === undefined || !('open' in policy || 'machine' in policy))
  if (isGated) passGate(request, options)
  else request.isFromProxy = options.gate.isTrusted(request.raw)
  if (isMachineAddress || (policy !== undefined && 'machine' in policy)) return admitMachine(request, options)
  if (policy === undefined || 'open' in policy || 'proxy' in policy) return null
  if ('tenantUser' in policy) return admitTenantUser(request, options)
  return 'can' in policy ? admitHolder(request, policy.can, options) : admitUser(request, options)
}

/** Counts a refusal, for the evidence of audits; what fails on our side is none. */
function noteRefusal(
  error: unknown,
  kind: FailureKind,
  request: FastifyRequest,
  { authFailures }: AuthenticateOptions,
): void {
  if (error instanceof AppError && (error.code === 'unauthenticated' || error.code === 'rate_limited'))
    authFailures.fail(kind, request.clientNetwork)
}

function passGate(request: FastifyRequest, options: AuthenticateOptions): void {
  const { gate } = options
  try {
    request.isFromProxy = gate.pass(request.raw)
  } catch (error) {
    noteRefusal(error, gate.hasSecret ? 'proxy_secret' : 'proxy_secret_unset', request, options)
    request.isRefusedAtGate = true
    request.silent = true
    throw error
  }
}

/** Throws at once when the headers do not name a user and a tenant. */
function admitTenantUser(request: FastifyRequest, options: AuthenticateOptions): null {
  try {
    request.tenantUser = readTenantUser(request.raw, options.metrics)
  } catch (error) {
    noteRefusal(error, 'identity', request, options)
    request.silent = true
    throw error
  }
  request.logFields['actor'] = request.tenantUser.userId
  options.activity.noteUser(request.tenantUser.userId)
  return null
}

async function admitHolder(
  request: FastifyRequest,
  policy: Policy,
  options: AuthenticateOptions,
): Promise<void> {
  await admitUser(request, options)
  const params = { ...(request.query as object), ...(request.params as object) } as Record<string, string>
  const key = policy.on.map((name) => params[name] ?? null)
  await authorizeRoute(request.actor as Actor, policy, key)
}

/** Refusals before the caller is known are counted and not logged: anyone could fill the log with them. */
async function unlogged<T>(request: FastifyRequest, admit: () => T | Promise<T>): Promise<T> {
  try {
    return await admit()
  } catch (error) {
    request.silent = error instanceof AppError && error.status < 500
    throw error
  }
}

async function admitMachine(request: FastifyRequest, options: AuthenticateOptions): Promise<void> {
  const authorization = presentedAuthorization(request.raw)
  request.machine = await unlogged(request, () => options.machineOf(authorization, request.clientNetwork))
  setOwner(request.machine.projectId)
  request.logFields['machine_user'] = request.machine.id
  options.activity.noteMachineUser(request.machine.id)
}

/** A personal access token decides when one is sent, so that ending it ends what it is used for; else the session. */
async function admitUser(request: FastifyRequest, options: AuthenticateOptions): Promise<void> {
  const { fallbackIdentity, metrics } = options
  const refused = (kind: FailureKind) => (error: unknown) => {
    noteRefusal(error, kind, request, options)
    throw error
  }
  const shown = await unlogged(
    request,
    () => personalToken(request, options) ?? readIdentity(request.raw, fallbackIdentity, metrics),
  ).catch(refused('identity'))
  const { user, tokenId } =
    typeof shown === 'string'
      ? await options.tokenOwner(shown).catch(refused('pat')).catch(asOverload)
      : { user: await options.provision(shown), tokenId: null }
  const userAgent = request.headers['user-agent'] ?? ''
  const traceId = request.span.context?.traceId
  request.actor = createActor(options, user, {
    ipAddress: request.clientAddress,
    userAgent,
    tokenId,
    traceId,
  })
  setCaller(user.id)
  request.logFields['actor'] = user.id
  options.activity.noteUser(user.id)
}

/** The routes of people have no rate limit: hashing one token too often is overload there, with the same time to wait. */
function asOverload(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error
  const { message, retryAfterSeconds = 1 } = error
  throw new AppError('unavailable', message, { retryAfterSeconds, cause: error })
}

/**
 * What a proxy forwards of its own session's Authorization is not ours to read; our tokens are known by their start.
 */
function personalToken(request: FastifyRequest, { metrics }: AuthenticateOptions): string | null {
  const header = presentedAuthorization(request.raw)
  if (header === '') {
    metrics.gateRejections.inc({ reason: 'identity' })
    throw new AppError('unauthenticated', 'invalid authenticated user: Authorization is sent more than once')
  }
  // A malformed token of ours must be refused, not ignored in favour of the session.
  if (header === null || !/(?:^|\s)pat_/.test(header)) return null
  const authorization = parseAuthorization(header)
  return authorization?.scheme === 'bearer' ? authorization.value : 'pat_malformed'
}
