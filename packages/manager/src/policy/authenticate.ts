// In front of every route, before its body is read: the gate, then the user. A route is gated unless its policy says
// otherwise, so an address that matches no route is gated too.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Db } from '../platform/db/database.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import type { Gate } from '../platform/http/gate.ts'
import { type Identity, readIdentity } from '../platform/http/identity.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Actor, type ActorUser, createActor } from './actor.ts'
import { authorize } from './authorize.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set on every route that needs a user. */
    actor: Actor | undefined
  }
}

export type AuthenticateOptions = {
  db: Db
  gate: Gate
  metrics: Metrics
  clientAddress: ClientAddress
  fallbackIdentity: Identity | null
  provision: (identity: Identity) => Promise<ActorUser>
}

// Machine and gateway routes carry credentials of their own; what does not exist there is a plain 404.
const machinePrefixes = ['/api/machine/', '/esb/']

/** Registers the one hook that decides who gets past. */
export function authenticate(server: FastifyInstance, options: AuthenticateOptions): void {
  server.decorateRequest('actor', undefined)
  server.addHook('onRequest', async (request) => {
    const policy = request.routeOptions.config.policy
    const isMachineAddress = request.is404 && machinePrefixes.some((prefix) => request.url.startsWith(prefix))
    if (isMachineAddress || (policy !== undefined && 'open' in policy)) return
    const identity = passGate(request, policy !== undefined && !('proxy' in policy), options)
    if (identity === null) return
    const user = await options.provision(identity)
    const ipAddress = options.clientAddress(request.raw, options.gate.isTrusted(request.raw))
    const userAgent = request.headers['user-agent'] ?? ''
    request.actor = createActor(options.db, user, { ipAddress, userAgent })
    request.logFields['actor'] = user.id
    if (policy !== undefined && 'can' in policy) {
      const params = { ...(request.query as object), ...(request.params as object) } as Record<string, string>
      await authorize(
        request.actor,
        policy.can,
        policy.can.on.map((name) => params[name] ?? null),
      )
    }
  })
}

/** The identity when the route needs a user, else null; a refusal here is counted and keeps out of the log. */
function passGate(
  request: FastifyRequest,
  needsUser: boolean,
  options: AuthenticateOptions,
): Identity | null {
  try {
    options.gate.pass(request.raw)
    return needsUser ? readIdentity(request.raw, options.fallbackIdentity, options.metrics) : null
  } catch (error) {
    request.silent = true
    throw error
  }
}
