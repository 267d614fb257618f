// Opens outbound connections. Every address is checked before a packet is sent to it and again after the connection is
// open, so DNS rebinding cannot redirect a call. Proxies from the environment are ignored. TLS is always verified
// against the host of the URL.
import { type LookupFunction, isIP } from 'node:net'
import { type SecureContext, createSecureContext, getCACertificates } from 'node:tls'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { toBareHost } from './addresses.ts'
import type { Egress } from './egress.ts'
import type { Lookup } from './names.ts'

/** Thrown if a connection is not allowed. The message contains the host and the reason, no other part of the URL. */
export class EgressRefusedError extends Error {
  readonly host: string
  constructor(host: string, reason: string) {
    super(`calls to ${host} are not allowed: ${reason}`)
    this.name = 'EgressRefusedError'
    this.host = host
  }
}

/** The peer closed the connection during the TLS handshake: it does not support TLS, or it rejects this client. */
export class HandshakeEndedError extends Error {}

/**
 * Trusts the default certificate authorities and the given ones (PEM). Create it once: with many certificates this
 * takes longer than a handshake.
 */
export const createTrustStore = (ca: readonly string[] = []): SecureContext =>
  createSecureContext(ca.length === 0 ? {} : { ca: [...getCACertificates(), ...ca] })

/** Returns a connector for undici pools. It fails with EgressRefusedError, HandshakeEndedError, or a network or TLS error. */
export function createGuardedConnector(options: {
  egress: Egress
  connectTimeoutMs: number
  trust: SecureContext
  lookup: Lookup
}): buildConnector.connector {
  const { egress, connectTimeoutMs, trust: secureContext, lookup } = options
  // One connector per port: a lookup function does not receive the port, but the egress check needs it.
  const connectors = new Map<number, buildConnector.connector>()
  const getConnector = (port: number): buildConnector.connector => {
    const existingConnector = connectors.get(port)
    if (existingConnector !== undefined) return existingConnector
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

  return ({ hostname, protocol, port: portText }, callback) => {
    const port = Number(portText === '' ? (protocol === 'https:' ? 443 : 80) : portText)
    const bareName = toBareHost(hostname)
    const isLiteral = isIP(bareName) !== 0
    const connect = (): void => {
      // Other undici options are not passed on: with them, TLS would be verified against the Host header.
      const target = isLiteral ? { hostname: bareName } : { hostname, servername: bareName }
      getConnector(port)({ ...target, protocol, port: String(port) }, (...result) => {
        if (result[0] !== null) return callback(toConnectError(protocol, result[0]), null)
        const [, socket] = result
        // A connection that is already closed has no address and is harmless.
        const problem =
          socket.remoteAddress === undefined ? null : egress.findAddressProblem(socket.remoteAddress)
        if (problem === null) return callback(...result)
        socket.destroy()
        callback(new EgressRefusedError(hostname, `the connected address is ${problem}`), null)
      })
    }
    // The guarded lookup is not called for an address literal, so the literal is checked here.
    if (isLiteral)
      checkAddress(egress, bareName, port, (error) => (error === null ? connect() : callback(error, null)))
    else connect()
  }
}

/**
 * An attempt to connect fails with a refusal or a timeout. A reset therefore means that TCP was open and the TLS
 * handshake failed.
 */
const toConnectError = (protocol: string, error: Error & { code?: string }): Error =>
  protocol === 'https:' && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    ? new HandshakeEndedError('the connection closed during the TLS handshake', { cause: error })
    : error

const checkAddress = callbackify(async (egress: Egress, address: string, port: number): Promise<void> => {
  const problem = await egress.findProblem(address, port)
  if (problem !== null) throw new EgressRefusedError(address, `it is ${problem}`)
})

/** Resolves a name to the addresses that the connection may use; rejects if any of them is not allowed. */
function createGuardedLookup(egress: Egress, lookup: Lookup, port: number): LookupFunction {
  const checkedLookup = callbackify(async (host: string) => {
    const addresses = await lookup(host)
    if (addresses.length === 0)
      throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
    for (const { address } of addresses) {
      const problem = await egress.findProblem(address, port)
      if (problem !== null) throw new EgressRefusedError(host, `its address ${address} is ${problem}`)
    }
    return [...addresses]
  })
  return (host, _options, done) => checkedLookup(host, done)
}
