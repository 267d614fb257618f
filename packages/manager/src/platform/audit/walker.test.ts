import { setImmediate } from 'node:timers'
import { expect, test } from 'vitest'
import { genesisHash, hashEntry, currentForm } from './entry.ts'
import type { Query } from './rows.ts'
import { walkChains, createWalk } from './walker.ts'

const entryOf = (chainId: string) => ({
  form: currentForm,
  chainId,
  seq: 1,
  id: chainId,
  entityType: 'project',
  entityId: chainId,
  action: 'create',
  description: '',
  metadata: {},
  changes: {},
  principal: { type: 'system' as const, id: 'test' },
  userId: null,
  ipAddress: '',
  userAgent: '',
  createdAt: '2026-01-02T03:04:05.006Z',
})

/** Rows as the database returns them. */
const rowsOf = (chains: readonly string[]): object[] =>
  chains.map((chainId) => {
    const { principal, ...entry } = entryOf(chainId)
    const hash = hashEntry(entryOf(chainId), genesisHash)
    return { ...entry, principalType: principal.type, principalId: principal.id, prevHash: genesisHash, hash }
  })

test('other work has its turn between rows, however few of them each chain has', async () => {
  const chains = Array.from({ length: 1_000 }, (_, i) => `chain-${i}`)
  const walks = chains.map((chainId) =>
    createWalk(undefined, { chainId, to: 1, sealed: new Map(), head: undefined }),
  )
  const query: Query = <Row extends object>() => Promise.resolve(rowsOf(chains) as Row[])
  let [turns, isDone] = [0, false]
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  expect(await walkChains(query, walks, { maxRows: 10_000 })).toBe(1_000)
  isDone = true
  expect(walks.every(({ state, broken }) => state.seq === 1 && broken === null)).toBe(true)
  expect(turns).toBeGreaterThanOrEqual(5)
})
