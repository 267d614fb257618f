import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AuditEntry, splitAroundHead, hashEntry } from './entry.ts'

const text = fc.string({ unit: 'grapheme' })
const anyEntry: fc.Arbitrary<AuditEntry> = fc.record({
  form: fc.constant(2),
  chainId: fc.uuid(),
  seq: fc.integer({ min: 1, max: 2 ** 40 }),
  id: fc.uuid(),
  entityType: text,
  entityId: text,
  action: text,
  description: text,
  metadata: fc.dictionary(text, fc.jsonValue()),
  changes: fc.dictionary(text, fc.record({ before: fc.jsonValue(), after: fc.jsonValue() })),
  principal: fc.record({ type: fc.constantFrom('user', 'machine_user', 'system'), id: text }),
  userId: fc.option(fc.uuid()),
  ipAddress: text,
  userAgent: text,
  createdAt: fc.constant('2026-01-02T03:04:05.006Z'),
})
const anyHash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))

describe('the hash of an audit entry', () => {
  test('is the same whether the text is put together around the head or canonicalized whole', () => {
    fc.assert(
      fc.property(anyEntry, anyHash, (entry, prevHash) => {
        const { seq, ...rest } = entry
        const { before, middle, after } = splitAroundHead(rest)
        const joined = `${before}${prevHash.toString('hex')}${middle}${seq}${after}`
        expect(createHash('sha256').update(joined).digest().equals(hashEntry(entry, prevHash))).toBe(true)
      }),
    )
  })

  test('changes with every field and with the hash before it', () => {
    fc.assert(
      fc.property(anyEntry, anyHash, (entry, prevHash) => {
        const hash = hashEntry(entry, prevHash).toString('hex')
        const variants = Object.keys(entry).map((field) => ({
          ...entry,
          [field]: field === 'seq' ? entry.seq + 1 : `${JSON.stringify(entry[field as keyof AuditEntry])}x`,
        }))
        const others = variants.map((variant) => hashEntry(variant, prevHash).toString('hex'))
        expect(others).not.toContain(hash)
        expect(hashEntry(entry, Buffer.alloc(32, 1)).toString('hex')).not.toBe(hash)
      }),
    )
  })
})
