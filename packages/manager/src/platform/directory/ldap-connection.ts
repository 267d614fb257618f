// Opens connections to a directory server, encrypts them, and passes on only messages that are checked.
import { readFileSync } from 'node:fs'
import { type LookupFunction, type Socket, connect, isIP } from 'node:net'
import { Duplex } from 'node:stream'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { callbackify } from 'node:util'
import type { Lookup } from '../outbound/names.ts'
import { LdapFailure, createResultFailure, describeFailure } from './ldap-failure.ts'
import { type LdapLimits, createMessageReader } from './ldap-messages.ts'

/** How servers are reached. */
export type LdapEncryption = { startTls: boolean; caFile: string | null }
export type LdapServer = { host: string; port: number; isTls: boolean }

/** Returns the address in an LDAP URL. */
export function parseLdapUrl(text: string): LdapServer {
  const { protocol, hostname, port } = new URL(text)
  const isTls = protocol === 'ldaps:'
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 636 : 389) : Number(port),
    isTls,
  }
}

/** Runs the work. Destroys the socket and throws if the time is over before that. */
export async function runWithin<T>(
  { ms, what }: { ms: number; what: string },
  socket: Duplex,
  work: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => {
        const failure = new LdapFailure(`${what} timed out`)
        socket.destroy(failure)
        reject(failure)
      },
      Math.max(0, ms),
    )
  })
  try {
    return await Promise.race([work(), timeout])
  } catch (error) {
    socket.destroy()
    throw describeFailure(what, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Opens an encrypted connection, or an unencrypted one if it is so configured. */
export async function openConnection(
  server: LdapServer,
  { startTls, caFile }: LdapEncryption,
  { ms, limits, lookup }: { ms: number; limits: LdapLimits; lookup: Lookup },
): Promise<LdapConnection> {
  const socket = connect({
    host: server.host,
    port: server.port,
    noDelay: true,
    autoSelectFamily: true,
    lookup: toLookupFunction(lookup),
  })
  // The promises below report errors; an error after them must not stop the process.
  socket.on('error', () => undefined)
  return runWithin({ ms, what: 'connecting' }, socket, async () => {
    await waitFor(socket, 'connect')
    if (startTls) await requestTls(socket)
    const encrypted = server.isTls || startTls ? await encrypt(socket, server.host, caFile) : socket
    return new LdapConnection(encrypted, limits)
  })
}

/** Returns the lookup function of a socket, which tries all addresses because of `autoSelectFamily`. */
function toLookupFunction(lookup: Lookup): LookupFunction {
  const findAddresses = callbackify(async (host: string) => [...(await lookup(host))])
  return (host, _options, done) => findAddresses(host, done)
}

function waitFor(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve())
    socket.once('error', reject)
    socket.once('close', () => reject(new LdapFailure('the server closed the connection')))
  })
}

async function encrypt(socket: Socket, host: string, caFile: string | null): Promise<Socket> {
  const options: ConnectionOptions = { socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) }
  // The file is read at every connection, so that a renewed CA needs no restart.
  if (caFile !== null) options.ca = readCaFile(caFile)
  const encrypted = connectTls(options)
  encrypted.on('error', () => undefined)
  await waitFor(encrypted, 'secureConnect')
  return encrypted
}

function readCaFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException
    throw new LdapFailure(`the file in ldap.ca_bundle cannot be read (${code})`, { isServerFault: false })
  }
}

// ExtendedRequest 1 with the name 1.3.6.1.4.1.1466.20037.
const startTlsRequest = Buffer.concat([
  Buffer.from('301d02010177188016', 'hex'),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
])

/** Requests StartTLS. Bytes that follow the response were sent unencrypted, so they fail the connection. */
async function requestTls(socket: Socket): Promise<void> {
  const reader = createMessageReader({ maxMessages: 1, maxBytes: 16_384 })
  const code = await new Promise<number | null>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new LdapFailure('the server closed the connection')))
    const onData = (chunk: Buffer): void => {
      try {
        const [message] = reader.read(chunk)
        if (message === undefined) return
        if (reader.hasRest()) throw new LdapFailure('the server sent bytes before the encryption started')
        socket.off('data', onData)
        socket.pause()
        resolve(message.resultCode)
      } catch (error) {
        reject(error)
      }
    }
    socket.on('data', onData)
    socket.write(startTlsRequest)
  })
  if (code !== 0) throw createResultFailure('StartTLS', code ?? -1)
}

// The result of a search with more entries than requested or than the server sends.
const sizeLimitExceeded = 4

// UnbindRequest 127.
const unbindRequest = Buffer.from('300502017f4200', 'hex')

/** An open connection for the client library. Each chunk that it reads is one checked message. */
export class LdapConnection extends Duplex {
  // The client library uses a connection without these properties only after an event.
  readonly connecting = false
  readonly readyState = 'open'
  /** Why the connection was closed, because the client library replaces errors. */
  failure: LdapFailure | null = null
  /** True if the server has more entries than it sent. The client library does not report this result. */
  isTruncated = false
  readonly #socket: Socket

  constructor(socket: Socket, limits: LdapLimits) {
    super({ readableHighWaterMark: limits.maxBytes })
    this.#socket = socket
    const { read } = createMessageReader(limits)
    // The client library removes all listeners of its own phases. An error without a listener stops the process.
    this.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { bytes, resultCode } of read(chunk)) {
          if (resultCode === sizeLimitExceeded) this.isTruncated = true
          this.push(bytes)
        }
      } catch (error) {
        this.#fail(error)
      }
    })
    socket.once('error', (error) => this.#fail(error))
    socket.once('close', () => this.#fail(new LdapFailure('the server closed the connection')))
  }

  #fail(error: unknown): void {
    if (this.destroyed) return
    this.failure = describeFailure('the connection', error)
    this.destroy(this.failure)
  }

  /** Tells the server that the connection ends, and closes it. */
  finish(): void {
    this.#socket.end(unbindRequest)
    this.#socket.destroySoon()
    this.destroy()
  }

  override _read(): void {
    // The socket pushes messages. Their number and size are limited.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#socket.writableEnded) this.#socket.destroy()
    done(error)
  }
}
