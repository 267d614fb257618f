import { expect, test } from 'vitest'
import { getCoverage, planAttestations } from './attestation.ts'
import { createEntry } from './sample-entries.ts'

const base = { report_id: 'r', population_hash: 'h', comment: 'Q4' }
const entries = ['a', 'b', 'c'].map((entry_id) => createEntry({ entry_id }))

test('one decision about all entries needs no list of them', () => {
  const drafts = new Map([['a', { decision: 'approve' as const, comment: ' ' }]])
  const coverage = getCoverage(entries, { drafts, attested: new Set(), rest: 'approve' })
  expect(coverage).toMatchObject({ uncovered: 0, overall: 'approve', counts: { approve: 3 } })
  expect(planAttestations(base, coverage)).toEqual([{ ...base, decision: 'approve' }])
})

test('entries without a decision are left out, and different decisions make the whole one to modify', () => {
  const drafts = new Map([
    ['a', { decision: 'approve' as const, comment: 'needed' }],
    ['c', { decision: 'revoke' as const, comment: '' }],
  ])
  const coverage = getCoverage(entries, { drafts, attested: new Set(), rest: null })
  expect(coverage).toMatchObject({ uncovered: 1, unexplained: 1, overall: 'modify' })
  expect(planAttestations(base, coverage)).toEqual([
    {
      ...base,
      decision: 'modify',
      entries: [
        { entry_id: 'a', decision: 'approve', justification: 'needed' },
        { entry_id: 'c', decision: 'revoke' },
      ],
    },
  ])
})

test('a comment on an entry is kept by naming the entries', () => {
  const drafts = new Map([['b', { decision: 'revoke' as const, comment: 'left' }]])
  const coverage = getCoverage(entries, { drafts, attested: new Set(), rest: 'revoke' })
  expect(planAttestations(base, coverage)[0]?.entries).toHaveLength(3)
})

test('attested entries are not covered again, unless they have a new decision', () => {
  const drafts = new Map([['b', { decision: 'revoke' as const, comment: '' }]])
  const coverage = getCoverage(entries, { drafts, attested: new Set(['a', 'b']), rest: 'revoke' })
  expect(coverage).toMatchObject({ uncovered: 0, isWhole: false })
  // Without a list, the attestation would cover the first entry, too.
  expect(planAttestations(base, coverage)[0]?.entries?.map(({ entry_id }) => entry_id)).toEqual(['b', 'c'])
})

test('too many entries, or too long comments, are split into several attestations', () => {
  const many = Array.from({ length: 20_001 }, (_, index) => createEntry({ entry_id: String(index) }))
  const drafts = new Map([['0', { decision: 'revoke' as const, comment: '' }]])
  const parts = planAttestations(base, getCoverage(many, { drafts, attested: new Set(), rest: 'approve' }))
  expect(parts.map((part) => part.entries?.length)).toEqual([10_000, 10_000, 1])
  const comment = 'ü'.repeat(1_000)
  const long = new Map(
    many.slice(0, 4_000).map(({ entry_id }) => [entry_id, { decision: 'revoke' as const, comment }]),
  )
  const sizes = planAttestations(
    base,
    getCoverage(many, { drafts: long, attested: new Set(), rest: null }),
  ).map((part) => JSON.stringify(part))
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.every((text) => new TextEncoder().encode(text).length < 4_000_000)).toBe(true)
})
