// A name server on loopback that answers as told: over UDP, and over TCP when an answer was cut. It knows what it was asked.
import { type RemoteInfo, type Socket as UdpSocket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, type Socket, createServer, isIP } from 'node:net'

type Zone = {
  addresses?: readonly string[]
  /** The name that this one stands for; its addresses go along. */
  alias?: string
  rcode?: number
  isSilent?: boolean
  /** Over UDP only the beginning is answered. */
  isCut?: boolean
}
export type NameServer = {
  /** `address:port`. */
  address: string
  zones: Map<string, Zone>
  /** `A name` or `AAAA name`, in this order. */
  questions: string[]
  close(): Promise<void>
}

const [typeA, typeAaaa, typeCname] = [1, 28, 5]
const [serverFailed, unknown] = [2, 3]
export const rcodes = { serverFailed, unknown }

/** Starts it without names; what it does not know does not exist. */
export async function startNameServer(zones: Record<string, Zone> = {}): Promise<NameServer> {
  const known = new Map(Object.entries(zones))
  const questions: string[] = []
  const answer = (query: Buffer, isUdp: boolean): Buffer | null => {
    const [name, end] = readName(query, 12)
    const type = query.readUInt16BE(end)
    questions.push(`${type === typeA ? 'A' : 'AAAA'} ${name}`)
    const zone = known.get(name)
    if (zone?.isSilent === true) return null
    const isCut = isUdp && zone?.isCut === true
    const records = zone === undefined || isCut ? [] : recordsOf(name, zone, type)
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    const rcode = zone === undefined ? unknown : (zone.rcode ?? 0)
    header.writeUInt16BE(0x81_80 | (isCut ? 0x02_00 : 0) | rcode, 2)
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
      // Questions are small and come in one piece.
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

/** Both on one port; it may be taken for one of the two. */
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

/** The name at this place, and where it ends; c-ares compresses nothing in a question. */
function readName(bytes: Buffer, at: number): [name: string, end: number] {
  const labels: string[] = []
  let place = at
  for (let length = bytes[place] as number; length > 0; length = bytes[place] as number) {
    labels.push(bytes.toString('latin1', place + 1, place + 1 + length))
    place += 1 + length
  }
  return [labels.join('.').toLowerCase(), place + 1]
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
