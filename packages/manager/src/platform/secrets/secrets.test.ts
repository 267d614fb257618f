// Tests that a sealed secret can be opened only in its own row and column, with its key, and only if it is unmodified.
import { type KeyObject, createSecretKey, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEncryptionRing } from './keys.ts'
import { createSecrets, readSealingKeyId } from './secrets.ts'

const keyOf = (byte: number): KeyObject => createSecretKey(Buffer.alloc(32, byte))
const ringOf = (...ids: [string, number][]): ReadonlyMap<string, KeyObject> =>
  new Map(ids.map(([id, byte]) => [id, keyOf(byte)]))
const place = { table: 'endpoints', column: 'auth_password', id: '01a1de88-34aa-7c2b-9d7d-5a3c2b7c1e10' }
const old = createSecrets(ringOf(['2026', 1]))
const both = createSecrets(ringOf(['2027', 2], ['2026', 1]))
const young = createSecrets(ringOf(['2027', 2]))
const text = 'Correct-Horse-Battery-Staple'

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' ', '\0', '🙂', 'ü'),
)
const anyName = fc.stringMatching(/^[a-z_]{1,20}$/)
const anyPlace = fc.record({ table: anyName, column: anyName, id: fc.uuid() })
const anyKeyId = fc.stringMatching(/^[a-z0-9-]{1,32}$/)

/** Whether the secret can be opened, regardless of its value. */
function opens(open: () => string): boolean {
  try {
    open()
    return true
  } catch {
    return false
  }
}

describe('sealing', () => {
  test('[endpoints.secrets-encrypted] what was sealed opens in its place, whatever it says', () => {
    fc.assert(
      fc.property(anyText, anyPlace, anyKeyId, (secret, where, keyId) => {
        const secrets = createSecrets(new Map([[keyId, createSecretKey(randomBytes(32))]]))
        const sealed = secrets.seal(secret, where)
        expect(secrets.open(sealed, where)).toBe(secret)
        expect(readSealingKeyId(sealed)).toBe(keyId)
      }),
    )
    const long = 'x'.repeat(1_000_000)
    expect(old.open(old.seal(long, place), place)).toBe(long)
  })

  test('[endpoints.secrets-encrypted] the sealed bytes hold nothing of the text, and two of one text share none but their head', () => {
    const seals = Array.from({ length: 50 }, () => old.seal(text, place))
    const head = 2 + '2026'.length
    for (const sealed of seals) expect(sealed.includes(text.slice(0, 4))).toBe(false)
    // Every seal has its own nonces, keys and ciphertext. Equal sequences of 8 bytes do not occur by chance.
    const runs = new Set<string>()
    for (const sealed of seals)
      for (let at = head; at + 8 <= sealed.length; at++) runs.add(sealed.subarray(at, at + 8).toString('hex'))
    const perSeal = (seals[0] as Buffer).length - head - 7
    expect(runs.size).toBe(seals.length * perSeal)
  })

  test('new secrets are sealed with the first key of the ring', () => {
    expect([old.activeKeyId, both.activeKeyId]).toEqual(['2026', '2027'])
    expect(readSealingKeyId(both.seal(text, place))).toBe('2027')
    expect(() => createSecrets(new Map())).toThrow('the encryption key ring is empty')
  })
})

describe('opening', () => {
  test('[endpoints.secrets-encrypted] a secret that is moved to another row, column or table does not open', () => {
    const sealed = old.seal(text, place)
    for (const elsewhere of [
      { ...place, id: '01a1de88-34aa-7c2b-9d7d-5a3c2b7c1e11' },
      { ...place, id: place.id.toUpperCase() },
      { ...place, id: '' },
      { ...place, column: 'auth_token' },
      { ...place, table: 'backends' },
    ])
      expect([elsewhere, opens(() => old.open(sealed, elsewhere))]).toEqual([elsewhere, false])
    fc.assert(
      fc.property(anyPlace, anyPlace, anyText, (here, there, secret) => {
        fc.pre(JSON.stringify(here) !== JSON.stringify(there))
        expect(opens(() => old.open(old.seal(secret, here), there))).toBe(false)
        expect(opens(() => old.rewrap(old.seal(secret, here), there).toString())).toBe(false)
      }),
    )
  })

  test('[endpoints.secrets-encrypted] every flipped bit is noticed, and so is every lost or added byte', () => {
    const sealed = old.seal(text, place)
    // The second ring also contains every key id that differs from the real one by a single bit.
    const neighbours = Array.from('2026').flatMap((letter, at) =>
      Array.from({ length: 8 }, (_, bit): [string, number] => [
        `${'2026'.slice(0, at)}${String.fromCharCode(letter.charCodeAt(0) ^ (1 << bit))}${'2026'.slice(at + 1)}`,
        1,
      ]),
    )
    for (const secrets of [old, createSecrets(ringOf(['2026', 1], ...neighbours))]) {
      expect(secrets.open(sealed, place)).toBe(text)
      const opened: string[] = []
      for (let at = 0; at < sealed.length; at++)
        for (let bit = 0; bit < 8; bit++) {
          const changed = Buffer.from(sealed)
          changed[at] = (changed[at] as number) ^ (1 << bit)
          if (opens(() => secrets.open(changed, place))) opened.push(`byte ${at} bit ${bit}`)
        }
      for (let length = 0; length < sealed.length; length++)
        if (opens(() => secrets.open(sealed.subarray(0, length), place))) opened.push(`cut to ${length}`)
      for (const more of [Buffer.concat([sealed, Buffer.from([0])]), Buffer.concat([sealed, sealed])])
        if (opens(() => secrets.open(more, place))) opened.push(`grown to ${more.length}`)
      expect(opened).toEqual([])
    }
  })

  test('[endpoints.secrets-encrypted] parts of two secrets of one place do not make a third', () => {
    const [first, second] = [old.seal('first', place), old.seal('other', place)]
    expect(first).toHaveLength(second.length)
    const opened: number[] = []
    for (let at = 2 + '2026'.length + 1; at < first.length; at++) {
      const mixed = Buffer.concat([first.subarray(0, at), second.subarray(at)])
      // If the random bytes happen to be equal at either end, the mix equals one of the two secrets.
      const isOne = mixed.equals(first) || mixed.equals(second)
      if (!isOne && opens(() => old.open(mixed, place))) opened.push(at)
    }
    expect(opened).toEqual([])
  })

  test('[endpoints.secrets-encrypted] another key under the same id does not open', () => {
    const sealed = old.seal(text, place)
    expect(opens(() => createSecrets(ringOf(['2026', 3])).open(sealed, place))).toBe(false)
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const other = createSecrets(new Map([['2026', createSecretKey(bytes)]]))
        expect(opens(() => other.open(sealed, place))).toBe(false)
      }),
    )
  })

  test('a key that is not in the ring is named; an unknown format and no bytes at all are refused', () => {
    const sealed = old.seal(text, place)
    const missing = 'the encryption key 2026 is not in the ring'
    expect(() => young.open(sealed, place)).toThrow(missing)
    expect(() => young.rewrap(sealed, place)).toThrow(missing)
    for (const bytes of [Buffer.alloc(0), Buffer.from([0]), Buffer.from([2, ...sealed.subarray(1)])]) {
      expect(() => old.open(bytes, place)).toThrow('a sealed secret has an unknown format')
      expect(() => readSealingKeyId(bytes)).toThrow('a sealed secret has an unknown format')
    }
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(opens(() => old.open(Buffer.from(bytes), place))).toBe(false)
        expect(opens(() => old.open(Buffer.concat([sealed.subarray(0, 6), bytes]), place))).toBe(false)
      }),
    )
  })

  test('a refusal says nothing of the secret or of a key', () => {
    const sealed = old.seal(text, place)
    const changed = Buffer.from(sealed)
    changed[sealed.length - 1] = (changed[sealed.length - 1] as number) ^ 1
    for (const [secrets, bytes] of [
      [young, sealed],
      [old, changed],
      [old, sealed.subarray(0, 20)],
    ] as const) {
      let said = ''
      try {
        secrets.open(bytes, place)
      } catch (error) {
        said = `${String(error)} ${JSON.stringify(error)}`
      }
      expect(said).not.toBe('')
      for (const hidden of [text, sealed.toString('hex'), Buffer.alloc(32, 1).toString('base64')])
        expect(said).not.toContain(hidden)
    }
  })
})

describe('changing keys', () => {
  test('wrapping anew keeps the text and changes the key id, and the old key is needed no longer', () => {
    fc.assert(
      fc.property(anyText, anyPlace, (secret, where) => {
        const sealed = old.seal(secret, where)
        const wrapped = both.rewrap(sealed, where)
        expect([readSealingKeyId(sealed), readSealingKeyId(wrapped)]).toEqual(['2026', '2027'])
        for (const secrets of [both, young]) expect(secrets.open(wrapped, where)).toBe(secret)
        expect(opens(() => old.open(wrapped, where))).toBe(false)
        // The original can still be opened while its key is in the ring.
        expect(both.open(sealed, where)).toBe(secret)
      }),
    )
  })

  test('wrapping anew goes on through any number of keys, and again with the same one', () => {
    const ids = Array.from({ length: 10 }, (_, index): [string, number] => [`k${index}`, index + 1])
    let sealed = createSecrets(ringOf(['k0', 1])).seal(text, place)
    for (const [index, id] of ids.entries()) {
      const secrets = createSecrets(ringOf(id, ...ids.slice(0, index)))
      const before = sealed
      sealed = secrets.rewrap(sealed, place)
      expect(sealed.equals(before)).toBe(false)
      expect([readSealingKeyId(sealed), secrets.open(sealed, place)]).toEqual([id[0], text])
    }
    // Only the wrapped key changes: the bytes of the sealed value stay the same.
    expect(sealed.subarray(-text.length - 28)).toEqual(
      createSecrets(ringOf(...ids.toReversed()))
        .rewrap(sealed, place)
        .subarray(-text.length - 28),
    )
  })

  test('a secret that was changed is not wrapped anew where its key would hide that', () => {
    const sealed = old.seal(text, place)
    const changed = Buffer.from(sealed)
    changed[10] = (changed[10] as number) ^ 1
    expect(() => both.rewrap(changed, place)).toThrow()
    // Rewrapping does not hide a change to the sealed value.
    const later = Buffer.from(sealed)
    later[later.length - 1] = (later[later.length - 1] as number) ^ 1
    expect(opens(() => both.open(both.rewrap(later, place), place))).toBe(false)
  })
})

describe('the ring', () => {
  const masterKey = Buffer.alloc(32, 7)
  const configured = new Map([
    ['2027', Buffer.alloc(32, 2)],
    ['2026', Buffer.alloc(32, 1)],
  ])

  test('configured keys come first, in their order, and the one derived from the master key last', () => {
    expect([...createEncryptionRing(masterKey, configured).keys()]).toEqual(['2027', '2026', 'master'])
    expect([...createEncryptionRing(masterKey).keys()]).toEqual(['master'])
    expect([...createEncryptionRing(masterKey, new Map()).keys()]).toEqual(['master'])
  })

  test('what the derived key sealed opens after keys are configured, and under no other master key', () => {
    const sealed = createSecrets(createEncryptionRing(masterKey)).seal(text, place)
    expect(createSecrets(createEncryptionRing(masterKey, configured)).open(sealed, place)).toBe(text)
    const other = createSecrets(createEncryptionRing(Buffer.alloc(32, 8), configured))
    expect(opens(() => other.open(sealed, place))).toBe(false)
    // The master key itself is not in the ring.
    const bare = createSecrets(new Map([['master', createSecretKey(masterKey)]]))
    expect(opens(() => bare.open(sealed, place))).toBe(false)
  })
})
