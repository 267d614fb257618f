import { expect, test } from 'vitest'
import { createEntry } from './sample-entries.ts'
import { filterEntries, readEntryFilter, sortEntries } from './select-entries.ts'

const entries = [
  createEntry({ entry_id: 'keep', name: 'Ben', recommendation: 'keep' }),
  createEntry({
    entry_id: 'flags',
    name: 'Cleo',
    recommendation: 'review',
    flags: ['privileged', 'dormant'],
  }),
  createEntry({
    entry_id: 'flag',
    name: 'Ada',
    recommendation: 'review',
    flags: ['privileged'],
    role: 'reader',
  }),
  createEntry({ entry_id: 'revoke', name: 'Dan', recommendation: 'revoke', flags: ['expired'] }),
]
const progress = {
  drafts: new Map([['keep', { decision: 'approve' as const, comment: '' }]]),
  attested: new Map([
    ['flag', { decision: 'revoke' as const, comment: '' }],
    ['keep', { decision: 'revoke' as const, comment: '' }],
  ]),
}
const idsOf = (search: Record<string, string>): string[] =>
  filterEntries(entries, readEntryFilter(search), progress).map(({ entry_id }) => entry_id)

test('the most urgent entries come first, and a column replaces this order', () => {
  const order = (sort: Parameters<typeof sortEntries>[1]) =>
    sortEntries(entries, sort).map(({ entry_id }) => entry_id)
  expect(order({ field: '', direction: 'ASC' })).toEqual(['revoke', 'flags', 'flag', 'keep'])
  expect(order({ field: 'name', direction: 'DESC' })).toEqual(['revoke', 'flags', 'keep', 'flag'])
  expect(order({ field: 'unknown', direction: 'ASC' })).toEqual(['revoke', 'flags', 'flag', 'keep'])
})

test('filters combine, and ignore values that do not exist', () => {
  expect(idsOf({ advice: 'review', flag: 'dormant' })).toEqual(['flags'])
  expect(idsOf({ q: 'READER' })).toEqual(['flag'])
  expect(idsOf({ advice: 'nothing' })).toHaveLength(4)
  expect(idsOf({ principal: 'machine_user' })).toEqual([])
})

test('a new decision replaces an attested one', () => {
  expect(idsOf({ state: 'open' })).toEqual(['flags', 'revoke'])
  expect(idsOf({ state: 'decided' })).toEqual(['keep'])
  expect(idsOf({ state: 'attested' })).toEqual(['flag'])
  expect(idsOf({ state: 'revoke' })).toEqual(['flag'])
  expect(idsOf({ state: 'approve' })).toEqual(['keep'])
})
