// Builds valid and invalid client frames of the WebSocket protocol, and parses server frames.
import { randomBytes } from 'node:crypto'
import { type RawSocket, openRaw } from './raw-socket.ts'
import { type Seat, seatHeaders, socketPath } from './sockets.ts'

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

type Odd = {
  isLast?: boolean
  isMasked?: boolean
  /** The length in the header, which may differ from the payload. */
  length?: number
  /** The three reserved bits. */
  reserved?: number
}

/** Builds a client frame. */
export function clientFrame(opcode: number, payload: Buffer | string = '', odd: Odd = {}): Buffer {
  const { isLast = true, isMasked = true, reserved = 0 } = odd
  const data = Buffer.from(payload)
  const length = odd.length ?? data.length
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode
  const bit = isMasked ? 0x80 : 0
  const size =
    length < 126
      ? Buffer.from([bit | length])
      : length < 65_536
        ? Buffer.from([bit | 126, length >> 8, length & 255])
        : Buffer.concat([Buffer.from([bit | 127]), bigEndian(length)])
  const mask = isMasked ? randomBytes(4) : Buffer.alloc(0)
  const masked = isMasked ? Buffer.from(data.map((byte, at) => byte ^ (mask[at % 4] as number))) : data
  return Buffer.concat([Buffer.from([first]), size, mask, masked])
}

function bigEndian(length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(length))
  return bytes
}

export type ServerFrame = { opcode: number; payload: Buffer }

/** Returns the complete frames after the response head. */
export function serverFrames(received: Buffer): ServerFrame[] {
  const frames: ServerFrame[] = []
  let at = received.indexOf('\r\n\r\n') + 4
  while (at >= 4 && at + 2 <= received.length) {
    const [first, second] = [received[at] as number, received[at + 1] as number]
    const short = second & 127
    const [length, head] = short === 126 ? [received.readUInt16BE(at + 2), 4] : [short, 2]
    if (at + head + length > received.length) break
    frames.push({ opcode: first & 15, payload: received.subarray(at + head, at + head + length) })
    at += head + length
  }
  return frames
}

/** Returns the code of the received close frame, or null. */
export function closeCodeOf(raw: RawSocket): number | null {
  const close = serverFrames(raw.received()).find(({ opcode }) => opcode === opcodes.close)
  return close === undefined ? null : close.payload.readUInt16BE(0)
}

/** Returns the handshake request. Headers that are set to null are omitted. */
export function handshake(seat: Seat, changed: Record<string, string | null> = {}, method = 'GET'): string {
  const headers: Record<string, string | null> = {
    host: 'manager.example',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...seatHeaders(seat),
    ...changed,
  }
  const lines = Object.entries(headers).filter(([, value]) => value !== null)
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${socketPath(seat.applicationId)} HTTP/1.1\r\n${head}\r\n`
}

/** Opens a connection and waits for the hello frame. */
export async function openRawSocket(url: string, seat: Seat): Promise<RawSocket> {
  const raw = await openRaw(url)
  raw.send(handshake(seat))
  await raw.waitUntil(() => raw.received().includes('"hello"'))
  return raw
}
