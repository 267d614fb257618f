// Authentication runs before every route and before the body is read. A route is behind the proxy gate unless its
// policy says otherwise, so a path that matches no route is gated too. Below the machine prefixes, a machine token
// replaces the gate.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Activity } from '../platform/credentials/activity.ts'
import type { AuthFailures, FailureKind } from '../platform/credentials/auth-failures.ts'
import type { Db } from '../platform/postgres/handles.ts'
import type { RunLookup } from '../platform/postgres/lookups.ts'
import { type RequestOwner, runAsOwner, setCaller, setOwner } from '../platform/postgres/owner.ts'
import { type ClientAddress, getClientNetwork } from '../platform/http/client-address.ts'
import { AppError } from '../platform/errors.ts'
import type { Gate } from '../platform/http/gate.ts'
import { readAuthorization } from '../platform/http/headers.ts'
import { type Identity, type TenantUser, readIdentity, readTenantUser } from '../platform/http/identity.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Actor, type ActorUser, createActor } from './actor.ts'
import { type Policy, authorizeRoute } from './authorize.ts'
import { readPersonalToken, toOverloadError } from './personal-token.ts'
import type { Scopes } from './scopes.ts'

/** The SCIM token of an identity provider. */
export type ScimClient = { tokenId: string; tokenName: string }

/** An authenticated machine user. */
export type Machine = {
  id: string
  name: string
  username: string
  environmentId: string
  projectId: string
  /** Current version number of the endpoints in the machine user's project. */
  endpointsVersion: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set on every route that needs a user. */
    actor: Actor | undefined
    /** The caller on routes for machine users. */
    machine: Machine | undefined
    /** The identity provider on SCIM routes. */
    scimClient: ScimClient | undefined
    /** User and tenant from the proxy headers, on routes for a user in a tenant. */
    tenantUser: TenantUser | undefined
    /** True if the request has the correct proxy secret. */
    isFromProxy: boolean
    /** Address of the client, determined only from trusted proxies. */
    readonly clientAddress: string
    /** Network of the client address, the unit in which throttles count clients. */
    readonly clientNetwork: string
    /** Caller and project that the request's statements are charged to; null until the first hook runs. */
    owned: RequestOwner | null
  }
}

export type AuthenticateOptions = {
  db: Db
  lookUp: RunLookup
  scopes: Scopes
  gate: Gate
  metrics: Metrics
  authFailures: Pick<AuthFailures, 'fail'>
  clientAddress: ClientAddress
  /** Records when admitted callers were last active. */
  activity: Pick<Activity, 'recordUser' | 'recordMachineUser'>
  fallbackIdentity: Identity | null
  provision: (identity: Identity) => Promise<ActorUser>
  /** Returns the owner and the id of a personal access token; throws 401, or 429 after too many hashing attempts. */
  authenticateToken: (token: string) => Promise<{ user: ActorUser; tokenId: string }>
  /** Returns the machine user of an Authorization header; throws 401 or 429. */
  authenticateMachine: (authorization: string | null, client: string) => Promise<Machine>
  /** Returns the token of an Authorization header; throws 401. */
  authenticateScim: (authorization: string | null) => Promise<ScimClient>
}

const machinePrefixes = ['/api/machine/', '/esb/']

/** Registers the hook that admits or rejects callers. */
export function authenticate(server: FastifyInstance, options: AuthenticateOptions): void {
  server.decorateRequest('actor', undefined)
  server.decorateRequest('machine', undefined)
  server.decorateRequest('scimClient', undefined)
  server.decorateRequest('tenantUser', undefined)
  server.decorateRequest('isFromProxy', false)
  server.decorateRequest('owned', null)
  // A getter computes the address only if a handler reads it.
  server.decorateRequest('clientAddress', {
    getter() {
      return options.clientAddress(this.raw, this.isFromProxy)
    },
  })
  server.decorateRequest('clientNetwork', {
    getter() {
      return getClientNetwork(this.clientAddress)
    },
  })
  // The hook is not async: a request that needs only the gate continues without a promise.
  server.addHook('onRequest', (request, _reply, done) => {
    // Before the caller is authenticated, fair scheduling can use the unverified headers.
    const { 'x-token-subject': subject, authorization } = request.headers
    const requestOwner: RequestOwner = { caller: String(subject ?? authorization ?? ''), projectId: null }
    const admission = runAsOwner(requestOwner, () => admit(request, options))
    request.owned = requestOwner
    if (admission !== null) return admission
    // These routes never verify the headers, so the client network is the caller.
    requestOwner.caller = request.clientNetwork
    done()
  })
  // Fastify loses the async context while it reads a body, so this hook sets the owner again.
  server.addHook('preHandler', ({ owned: requestOwner }, _reply, done) => {
    if (requestOwner === null) done()
    else runAsOwner(requestOwner, done)
  })
}

/** Returns null if the request may continue immediately; throws or rejects if the caller is not admitted. */
function admit(request: FastifyRequest, options: AuthenticateOptions): Promise<void> | null {
  const policy = request.routeOptions.config.policy
  const isMachineAddress = request.is404 && machinePrefixes.some((prefix) => request.url.startsWith(prefix))
  const isGated = !isMachineAddress && (policy === undefined || !('open' in policy || 'machine' in policy))
  if (isGated) passGate(request, options)
  else request.isFromProxy = options.gate.isTrusted(request.raw)
  if (isMachineAddress || (policy !== undefined && 'machine' in policy)) return admitMachine(request, options)
  if (policy === undefined || 'open' in policy || 'proxy' in policy) return null
  if ('scim' in policy) return admitScimClient(request, options)
  if ('tenantUser' in policy) return admitTenantUser(request, options)
  return 'can' in policy ? admitHolder(request, policy.can, options) : admitUser(request, options)
}

/** Counts a failed authentication as audit evidence; internal errors do not count. */
function recordAuthFailure(
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
    request.isFromProxy = gate.checkRequest(request.raw)
  } catch (error) {
    recordAuthFailure(error, gate.hasSecret ? 'proxy_secret' : 'proxy_secret_unset', request, options)
    request.isRejectedByGate = true
    request.isUnlogged = true
    throw error
  }
}

/** Throws if the headers do not name a user and a tenant. */
function admitTenantUser(request: FastifyRequest, options: AuthenticateOptions): null {
  try {
    request.tenantUser = readTenantUser(request.raw, options.metrics)
  } catch (error) {
    recordAuthFailure(error, 'identity', request, options)
    request.isUnlogged = true
    throw error
  }
  request.logFields['actor'] = request.tenantUser.userId
  options.activity.recordUser(request.tenantUser.userId)
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

/** Rejections of unknown callers are counted but not logged: anyone could flood the log with them. */
async function suppressLogging<T>(request: FastifyRequest, admit: () => T | Promise<T>): Promise<T> {
  try {
    return await admit()
  } catch (error) {
    request.isUnlogged = error instanceof AppError && error.status < 500
    throw error
  }
}

async function admitMachine(request: FastifyRequest, options: AuthenticateOptions): Promise<void> {
  const authorization = readAuthorization(request.raw)
  request.machine = await suppressLogging(request, () =>
    options.authenticateMachine(authorization, request.clientNetwork),
  )
  setOwner(request.machine.projectId)
  request.logFields['machine_user'] = request.machine.id
  options.activity.recordMachineUser(request.machine.id)
}

/** A wrong SCIM token is not throttled: it has too many random bits to guess, and checking it costs one HMAC. */
async function admitScimClient(request: FastifyRequest, options: AuthenticateOptions): Promise<void> {
  const authorization = readAuthorization(request.raw)
  request.scimClient = await suppressLogging(request, () => options.authenticateScim(authorization)).catch(
    (error: unknown) => {
      recordAuthFailure(error, 'scim_token', request, options)
      throw error
    },
  )
  setCaller(request.scimClient.tokenId)
  request.logFields['scim_token'] = request.scimClient.tokenId
}

/** A personal access token takes precedence over the session: a request with a revoked token must fail. */
async function admitUser(request: FastifyRequest, options: AuthenticateOptions): Promise<void> {
  const { fallbackIdentity, metrics } = options
  const recordAndRethrow = (kind: FailureKind) => (error: unknown) => {
    recordAuthFailure(error, kind, request, options)
    throw error
  }
  const credential = await suppressLogging(
    request,
    () => readPersonalToken(request, metrics) ?? readIdentity(request.raw, fallbackIdentity, metrics),
  ).catch(recordAndRethrow('identity'))
  const { user, tokenId } =
    typeof credential === 'string'
      ? await options.authenticateToken(credential).catch(recordAndRethrow('pat')).catch(toOverloadError)
      : { user: await options.provision(credential), tokenId: null }
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
  options.activity.recordUser(user.id)
}
