// Splits the bytes of a directory server into LDAP messages (RFC 4511) and checks each message completely. The client
// library trusts the lengths inside a message: a wrong length could keep its parser in an endless loop, and a long
// message could fill the memory.
import { LdapFailure } from './ldap-failure.ts'

/** An element of a message: its tag, and where it and its content are. */
type Element = { tag: number; from: number; start: number; end: number }

const tags = {
  integer: 0x02,
  octets: 0x04,
  enumeration: 0x0a,
  sequence: 0x30,
  set: 0x31,
  bindResponse: 0x61,
  searchEntry: 0x64,
  searchDone: 0x65,
  searchReference: 0x73,
  extendedResponse: 0x78,
}

export const maxMessageBytes = 256 * 1_024
const maxLengthBytes = 4
const invalidMessage = 'the server sent an invalid message'

const fail = (): never => {
  throw new LdapFailure(invalidMessage)
}

/** Returns the element at this position, or null if the bytes end before its content starts. */
function readHeader(bytes: Buffer, from: number, limit: number): Element | null {
  if (from + 2 > limit) return null
  const tag = bytes.readUInt8(from)
  const first = bytes.readUInt8(from + 1)
  if (first < 0x80) return { tag, from, start: from + 2, end: from + 2 + first }
  const count = first & 0x7f
  if (count === 0 || count > maxLengthBytes) return fail()
  const start = from + 2 + count
  return start > limit ? null : { tag, from, start, end: start + bytes.readUIntBE(from + 2, count) }
}

/** Returns the elements inside an element. They fill it exactly. */
function readChildren(bytes: Buffer, { start, end }: Element): Element[] {
  const children: Element[] = []
  for (let at = start; at < end;) {
    const child = readHeader(bytes, at, end)
    if (child === null || child.end > end) return fail()
    children.push(child)
    at = child.end
  }
  return children
}

/** Returns the elements inside an element, which must start with these tags and have no others unless `isOpen`. */
function readTagged(bytes: Buffer, parent: Element, expected: readonly number[], isOpen = false): Element[] {
  const children = readChildren(bytes, parent)
  const isExpected = expected.every((tag, position) => children[position]?.tag === tag)
  return isExpected && (isOpen || children.length === expected.length) ? children : fail()
}

function checkOctets(bytes: Buffer, parent: Element): void {
  if (readChildren(bytes, parent).some(({ tag }) => tag !== tags.octets)) fail()
}

function checkEntry(bytes: Buffer, operation: Element): void {
  const [, attributes] = readTagged(bytes, operation, [tags.octets, tags.sequence])
  for (const attribute of readChildren(bytes, attributes as Element)) {
    if (attribute.tag !== tags.sequence) fail()
    const [, values] = readTagged(bytes, attribute, [tags.octets, tags.set])
    checkOctets(bytes, values as Element)
  }
}

const maxIntegerBytes = 4
const isInteger = (element: Element): boolean =>
  element.end > element.start && element.end - element.start <= maxIntegerBytes

/** A checked message without controls. `resultCode` is null for entries and references. */
export type LdapMessage = { bytes: Buffer; resultCode: number | null }

/** Checks one message. Controls and additional fields of results are removed: no request asks for them. */
export function checkMessage(bytes: Buffer): LdapMessage {
  const message = readHeader(bytes, 0, bytes.length)
  if (message === null || message.tag !== tags.sequence || message.end !== bytes.length) return fail()
  const [id, operation] = readChildren(bytes, message)
  if (id?.tag !== tags.integer || !isInteger(id) || operation === undefined) return fail()
  const copy = (element: Element): Buffer => bytes.subarray(element.from, element.end)
  const join = (...parts: Buffer[]): Buffer => encodeElement(tags.sequence, [copy(id), ...parts])
  switch (operation.tag) {
    case tags.searchEntry:
      checkEntry(bytes, operation)
      return { bytes: join(copy(operation)), resultCode: null }
    case tags.searchReference:
      checkOctets(bytes, operation)
      return { bytes: join(copy(operation)), resultCode: null }
    case tags.bindResponse:
    case tags.searchDone:
    case tags.extendedResponse: {
      const [code, name, text] = readTagged(
        bytes,
        operation,
        [tags.enumeration, tags.octets, tags.octets],
        true,
      ) as [Element, Element, Element]
      if (!isInteger(code)) return fail()
      const fields = [copy(code), copy(name), copy(text)]
      return {
        bytes: join(encodeElement(operation.tag, fields)),
        resultCode: bytes.readIntBE(code.start, code.end - code.start),
      }
    }
    default:
      return fail()
  }
}

function encodeElement(tag: number, parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const header = Buffer.alloc(length < 0x80 ? 2 : 2 + maxLengthBytes)
  header.writeUInt8(tag, 0)
  if (length < 0x80) header.writeUInt8(length, 1)
  else {
    header.writeUInt8(0x80 + maxLengthBytes, 1)
    header.writeUInt32BE(length, 2)
  }
  return Buffer.concat([header, ...parts])
}

/** The most that a server may send during one request. */
export type LdapLimits = { maxMessages: number; maxBytes: number }

/** Returns the end of the message that starts here, or null if it is not complete. */
function findEnd(bytes: Buffer, start: number): number | null {
  if (start < bytes.length && bytes[start] !== tags.sequence) fail()
  const header = readHeader(bytes, start, bytes.length)
  if (header === null) return null
  if (header.end - start > maxMessageBytes)
    throw new LdapFailure('the server sent a message that is too long')
  return header.end > bytes.length ? null : header.end
}

/** Collects bytes. The memory doubles when it is full, so many small chunks cost as much as one large chunk. */
function createByteQueue() {
  let memory: Buffer = Buffer.alloc(0)
  let length = 0
  return {
    /** Returns all bytes, which are valid until the next call. */
    append: (chunk: Buffer): Buffer => {
      if (length + chunk.length > memory.length) {
        const larger = Buffer.alloc(Math.max(2 * memory.length, length + chunk.length))
        memory.copy(larger, 0, 0, length)
        memory = larger
      }
      chunk.copy(memory, length)
      length += chunk.length
      return memory.subarray(0, length)
    },
    /** Removes the first bytes. */
    remove: (count: number): void => {
      memory.copyWithin(0, count, length)
      length -= count
    },
    isEmpty: (): boolean => length === 0,
  }
}

/** Returns a function that receives the bytes of a connection and returns the messages that are complete. */
export function createMessageReader({ maxMessages, maxBytes }: LdapLimits) {
  const queue = createByteQueue()
  let messageCount = 0
  let byteCount = 0
  const read = (chunk: Buffer): LdapMessage[] => {
    byteCount += chunk.length
    if (byteCount > maxBytes) throw new LdapFailure('the server sent too many bytes')
    const bytes = queue.append(chunk)
    const messages: LdapMessage[] = []
    let start = 0
    for (let end = findEnd(bytes, start); end !== null; end = findEnd(bytes, start)) {
      messageCount++
      if (messageCount > maxMessages) throw new LdapFailure('the server sent too many messages')
      messages.push(checkMessage(bytes.subarray(start, end)))
      start = end
    }
    if (start > 0) queue.remove(start)
    return messages
  }
  return { read, hasRest: (): boolean => !queue.isEmpty() }
}
