// Tests that only well-formed messages reach the client library, and that the library ends on all of them.
import * as fc from 'fast-check'
import { MessageParser } from 'ldapts'
import { describe, expect, test, vi } from 'vitest'
import { checkMessage, createMessageReader, maxMessageBytes } from './ldap-messages.ts'

const element = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const header = Buffer.from([tag, 0x84, 0, 0, 0, 0])
  header.writeUInt32BE(content.length, 2)
  return Buffer.concat([header, content])
}
const text = (value: string): Buffer => element(0x04, Buffer.from(value))
const message = (...parts: readonly Buffer[]): Buffer =>
  element(0x30, element(0x02, Buffer.from([5])), ...parts)
const attribute = (name: string, ...values: readonly string[]): Buffer =>
  element(0x30, text(name), element(0x31, ...values.map(text)))
const entry = message(
  element(0x64, text('uid=ann'), element(0x30, attribute('cn', 'Ann', 'Änn'), attribute('mail'))),
)
const result = (tag: number, code: number, ...more: readonly Buffer[]): Buffer =>
  message(element(tag, element(0x0a, Buffer.from([code])), text(''), text('why'), ...more))
const reference = message(element(0x73, text('ldap://other.example')))
const controls = element(0xa0, element(0x30, text('1.2.3'), text('value')))
const withControls = message(element(0x65, element(0x0a, Buffer.from([0])), text(''), text('')), controls)
const valid = [entry, reference, result(0x61, 0), result(0x65, 4), result(0x78, 0), withControls]

/** Returns what the client library makes of a message. */
function parse(bytes: Buffer): { messages: unknown[]; errors: unknown[] } {
  const [messages, errors]: unknown[][] = [[], []]
  const parser = new MessageParser()
  parser.on('message', (one) => messages?.push(one))
  parser.on('error', (error) => errors?.push(error))
  parser.read(bytes, new Map())
  return { messages: messages ?? [], errors: errors ?? [] }
}

/** Returns the checked message, or the reason why it is refused. */
function check(bytes: Buffer): { checked: Buffer | null; problem?: string } {
  try {
    return { checked: checkMessage(bytes).bytes }
  } catch (error) {
    return { checked: null, problem: (error as Error).message }
  }
}

const invalid = 'the server sent an invalid message'
const limits = { maxMessages: 100, maxBytes: 10 * maxMessageBytes }

describe('a message', () => {
  test('of each kind that a search needs is passed on and understood', () => {
    for (const bytes of valid) {
      const { messages, errors } = parse(checkMessage(bytes).bytes)
      expect([messages.length, errors]).toEqual([1, []])
    }
    expect(parse(checkMessage(entry).bytes).messages[0]).toMatchObject({
      name: 'uid=ann',
      attributes: [
        { type: 'cn', values: ['Ann', 'Änn'] },
        { type: 'mail', values: [] },
      ],
    })
    expect(checkMessage(result(0x65, 4)).resultCode).toBe(4)
    expect(checkMessage(entry).resultCode).toBeNull()
  })

  test('loses its controls and the additional fields of its result', () => {
    expect(checkMessage(withControls).bytes.includes('1.2.3')).toBe(false)
    const referral = element(0xa3, text('ldap://other.example'))
    expect(checkMessage(result(0x65, 10, referral)).bytes.includes('other.example')).toBe(false)
  })

  test('whose lengths would keep the client library in an endless loop is refused', () => {
    for (const bytes of [
      // The attributes claim to be longer than the message.
      message(
        Buffer.concat([
          Buffer.from([0x64, 0x05]),
          text('').subarray(0, 0),
          Buffer.from([4, 1, 97, 0x30, 0x7f]),
        ]),
      ),
      // The list of attributes is one byte that looks like the start of an element.
      message(element(0x64, text('a'), element(0x30, Buffer.from([0x04])))),
      message(element(0x64, text('a'), element(0x04, Buffer.from([0x04])))),
      // The list of attributes is longer than the message. The client library adds empty attributes until its memory is full.
      Buffer.from('300a0201056405040161307f', 'hex'),
    ])
      expect(() => checkMessage(bytes)).toThrow(invalid)
  })

  test('of another kind, or with other bytes around it, is refused', () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      entry.subarray(0, -1),
      Buffer.concat([entry, Buffer.from([0])]),
      message(),
      message(element(0x60, text('a'))),
      message(element(0x64, text('a'))),
      message(element(0x65, text('a'), text(''), text(''))),
      message(element(0x65, element(0x0a), text(''), text(''))),
      element(0x30, element(0x02), element(0x73, text('a'))),
      element(0x30, element(0x02, Buffer.alloc(5)), element(0x73, text('a'))),
      Buffer.from([0x30, 0x80, 0, 0]),
      Buffer.from([0x30, 0x85, 0, 0, 0, 0, 0]),
    ])
      expect(() => checkMessage(bytes)).toThrow(invalid)
  })

  test('with any damage is refused, or ends in the client library', () => {
    const damage = fc.tuple(
      fc.constantFrom(...valid),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
    )
    let passed = 0
    fc.assert(
      fc.property(damage, ([original, changes]) => {
        const bytes = Buffer.from(original)
        for (const [position, value] of changes) bytes[position % bytes.length] = value
        const { checked, problem } = check(bytes)
        expect([undefined, invalid]).toContain(problem)
        if (checked !== null) passed++
        // A refused message has no result.
        const { messages, errors } = checked === null ? { messages: [], errors: [problem] } : parse(checked)
        expect(messages.length + errors.length).toBe(1)
      }),
      { numRuns: 3_000 },
    )
    expect(passed).toBeGreaterThan(100)
  })
})

describe('a stream of bytes', () => {
  test('is split into the same messages, wherever it is cut', () => {
    const bytes = Buffer.concat(valid)
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const { read, hasRest } = createMessageReader(limits)
        const positions = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const messages = positions
          .slice(1)
          .flatMap((end, index) => read(Buffer.from(bytes.subarray(positions[index], end))))
        expect(messages.map((one) => one.bytes)).toEqual(valid.map((one) => checkMessage(one).bytes))
        expect(hasRest()).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  test('in tiny chunks is copied only a few times', () => {
    const large = message(element(0x64, text('uid=ann'), element(0x30, attribute('cn', 'x'.repeat(200_000)))))
    const { read } = createMessageReader(limits)
    let allocated = 0
    const alloc = Buffer.alloc.bind(Buffer)
    const concat = Buffer.concat.bind(Buffer)
    const spies = [
      vi.spyOn(Buffer, 'alloc').mockImplementation((size: number) => {
        allocated += size
        return alloc(size)
      }),
      vi.spyOn(Buffer, 'concat').mockImplementation((parts) => {
        const joined = concat(parts)
        allocated += joined.length
        return joined
      }),
    ]
    const messages = Array.from(large, (byte) => read(Buffer.from([byte]))).flat()
    for (const spy of spies) spy.mockRestore()
    expect(messages.map(({ bytes }) => bytes)).toEqual([checkMessage(large).bytes])
    expect(allocated).toBeLessThan(10 * large.length)
  })

  test('is refused if it is garbage, too long, or has too many messages', () => {
    const read = (chunk: Buffer, more = {}) => createMessageReader({ ...limits, ...more }).read(chunk)
    expect(() => read(Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'))).toThrow(invalid)
    const announced = Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])
    expect(() => read(announced)).toThrow('the server sent a message that is too long')
    expect(() => read(Buffer.concat([entry, entry]), { maxMessages: 1 })).toThrow('too many messages')
    expect(() => read(entry, { maxBytes: 10 })).toThrow('the server sent too many bytes')
  })
})
