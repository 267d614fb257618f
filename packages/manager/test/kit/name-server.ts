// A DNS server on loopback with configured answers. It answers over UDP, and also over TCP if the UDP answer was
// truncated. It records the questions.
import { type RemoteInfo, type Socket as UdpSocket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, type Socket, createServer, isIP } from 'node:net'

type Zone = {
  addresses?: readonly string[]
  /** Target of a CNAME record. The answer also contains the addresses of the target. */
  alias?: string
  rcode?: number
  isSilent?: boolean
  /** If true, the UDP answer is truncated. */
  isTruncated?: boolean
}
export type NameServer = {
  /** Address and port, as `address:port`. */
  address: string
  zones: Map<string, Zone>
  /** Received questions in order, as `A name` or `AAAA name`. */
  questions: string[]
  close(): Promise<void>
}

const [typeA, typeAaaa, typeCname] = [1, 28, 5]
const [serverFailed, unknown] = [2, 3]
export const rcodes = { serverFailed, unknown }

/** Starts the server. Names without an entry in `zones` do not exist. */
export async function startNameServer(zones: Record<string, Zone> = {}): Promise<NameServer> {
  const known = new Map(Object.entries(zones))
  const questions: string[] = []
  const answer = (query: Buffer, isUdp: boolean): Buffer | null => {
    const [name, end] = readName(query, 12)
    const type = query.readUInt16BE(end)
    questions.push(`${type === typeA ? 'A' : 'AAAA'} ${name}`)
    const zone = known.get(name)
    if (zone?.isSilent === true) return null
    const isTruncated = isUdp && zone?.isTruncated === true
    const records = zone === undefined || isTruncated ? [] : recordsOf(name, zone, type)
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    const rcode = zone === undefined ? unknown : (zone.rcode ?? 0)
    header.writeUInt16BE(0x81_80 | (isTruncated ? 0x02_00 : 0) | rcode, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    return Buffer.concat([header, query.subarray(12, end + 4), ...records])
  }
  const onDatagram = (udp: UdpSocket, query: Buffer, from: RemoteInfo): void => {
    const bytes = answer(query, true)
    if (bytes !== null) udp.send(bytes, from.port, from.address)
  }
  const onConnection = (socket: Socket): void => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      // Questions are small, so each arrives in one chunk.
      for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt16BE(at)) {
        const reply = answer(bytes.subarray(at + 2, at + 2 + bytes.readUInt16BE(at)), false)
        if (reply === null) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(reply.length)
        socket.write(Buffer.concat([length, reply]))
      }
    })
  }
  const { udp, tcp, port } = await listen(onDatagram, onConnection)
  return {
    address: `127.0.0.1:${port}`,
    zones: known,
    questions,
    close: async () => {
      udp.close()
      await new Promise((resolve) => tcp.close(resolve))
    },
  }
}

/** Listens on the same port with UDP and TCP. Tries another port if the port is already in use for UDP. */
async function listen(
  onDatagram: (udp: UdpSocket, query: Buffer, from: RemoteInfo) => void,
  onConnection: (socket: Socket) => void,
) {
  for (;;) {
    const tcp = createServer(onConnection).listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    udp.on('message', (query: Buffer, from: RemoteInfo) => onDatagram(udp, query, from))
    const isBound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true))
    })
    if (isBound) return { udp, tcp, port }
    tcp.close()
  }
}

/** Returns the name at this offset and the offset at which it ends. c-ares does not compress names in questions. */
function readName(bytes: Buffer, at: number): [name: string, end: number] {
  const labels: string[] = []
  let offset = at
  for (let length = bytes[offset] as number; length > 0; length = bytes[offset] as number) {
    labels.push(bytes.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  return [labels.join('.').toLowerCase(), offset + 1]
}

const writeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ])

function record(name: string, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10)
  fields.writeUInt16BE(type, 0)
  fields.writeUInt16BE(1, 2)
  fields.writeUInt32BE(60, 4)
  fields.writeUInt16BE(data.length, 8)
  return Buffer.concat([writeName(name), fields, data])
}

function recordsOf(name: string, { alias, addresses = [] }: Zone, type: number): Buffer[] {
  const family = type === typeAaaa ? 6 : 4
  const found = addresses
    .filter((address) => isIP(address) === family)
    .map((address) => record(alias ?? name, type, bytesOf(address)))
  return alias === undefined ? found : [record(name, typeCname, writeName(alias)), ...found]
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [left = '', right = ''] = address
    .split('::')
    .map((half) => half.split(':').filter(Boolean))
    .map((groups) => groups.map((group) => group.padStart(4, '0')).join(''))
  return Buffer.from(left + '0'.repeat(32 - left.length - right.length) + right, 'hex')
}
