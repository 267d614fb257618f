// How outbound connections are opened: every address is judged before a packet is sent to it, and once more when the
// connection is open, so that a name that changes its address between two lookups leads nowhere else. Proxies named in
// the environment are not used, and TLS is always verified, against the host of the URL.
import { type LookupFunction, isIP } from 'node:net'
import { type SecureContext, createSecureContext, getCACertificates } from 'node:tls'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { bareHost } from './addresses.ts'
import type { Egress } from './egress.ts'
import type { Lookup } from './names.ts'

/** A connection that must not be made. The message names the host and the reason, nothing else of the URL. */
export class EgressRefused extends Error {
  readonly host: string
  constructor(host: string, reason: string) {
    super(`${host} is not called: ${reason}`)
    this.name = 'EgressRefused'
    this.host = host
  }
}

/** The other side closed the connection before TLS was set up: it speaks none, or does not want us. */
export class HandshakeEnded extends Error {}

/**
 * Trusts what the process trusts anyway, and these certificates (PEM). Made once: with many it takes longer than a
 * handshake.
 */
export const createTrust = (ca: readonly string[] = []): SecureContext =>
  createSecureContext(ca.length === 0 ? {} : { ca: [...getCACertificates(), ...ca] })

/** A connector for undici's pools; it fails with EgressRefused, HandshakeEnded, or what the network or TLS says. */
export function createGuardedConnector(options: {
  egress: Egress
  connectTimeoutMs: number
  trust: SecureContext
  lookup: Lookup
}): buildConnector.connector {
  const { egress, connectTimeoutMs, trust: secureContext, lookup } = options
  // One for each port: a lookup does not get the port, but what listens there matters.
  const connectors = new Map<number, buildConnector.connector>()
  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port)
    if (known !== undefined) return known
    const connector = buildConnector({
      secureContext,
      rejectUnauthorized: true,
      allowH2: false,
      timeout: connectTimeoutMs,
      autoSelectFamily: true,
      lookup: createGuardedLookup(egress, lookup, port),
    })
    connectors.set(port, connector)
    return connector
  }

  return ({ hostname, protocol, port: given }, callback) => {
    const port = Number(given === '' ? (protocol === 'https:' ? 443 : 80) : given)
    const bare = bareHost(hostname)
    const isLiteral = isIP(bare) !== 0
    const connect = (): void => {
      // Nothing else of undici's options is used: it would verify TLS against the Host header of the first request.
      const target = isLiteral ? { hostname: bare } : { hostname, servername: bare }
      connectorFor(port)({ ...target, protocol, port: String(port) }, (...result) => {
        if (result[0] !== null) return callback(connectError(protocol, result[0]), null)
        const [, socket] = result
        // A connection that is gone again has no address, and leads nowhere.
        const problem =
          socket.remoteAddress === undefined ? null : egress.problemOfAddress(socket.remoteAddress)
        if (problem === null) return callback(...result)
        socket.destroy()
        callback(new EgressRefused(hostname, `the address it led to is ${problem}`), null)
      })
    }
    // Nothing is looked up for a literal.
    if (isLiteral) judge(egress, bare, port, (error) => (error === null ? connect() : callback(error, null)))
    else connect()
  }
}

/** A connection that cannot be made is refused, or times out; one that is reset was there already. */
const connectError = (protocol: string, error: Error & { code?: string }): Error =>
  protocol === 'https:' && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    ? new HandshakeEnded('the connection ended before TLS was set up', { cause: error })
    : error

const judge = callbackify(async (egress: Egress, address: string, port: number): Promise<void> => {
  const problem = await egress.problemOf(address, port)
  if (problem !== null) throw new EgressRefused(address, `it is ${problem}`)
})

/** Returns all addresses of a name, and none if one of them is refused; the connection is made to one of these. */
function createGuardedLookup(egress: Egress, lookup: Lookup, port: number): LookupFunction {
  const judged = callbackify(async (host: string) => {
    const answers = await lookup(host)
    if (answers.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
    for (const { address } of answers) {
      const problem = await egress.problemOf(address, port)
      if (problem !== null) throw new EgressRefused(host, `its address ${address} is ${problem}`)
    }
    return [...answers]
  })
  return (host, _options, done) => judged(host, done)
}
