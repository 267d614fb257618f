// Makes many changes of every kind in random order. Each audit row must be in the queries that the table
// lists, and in no other query.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import type { MatrixWorld } from '../policy/world.ts'
import { changes, makeChanges } from './changes.ts'
import { checkCompleteness } from './completeness.ts'

const rounds = loadSize(5, 50)
// Number of concurrent workers. Each worker makes some of the changes with its own test data.
const lanes = 6
let service: TestApp
beforeAll(async () => {
  service = await startTestApp({
    env: {
      SVC_CLI_LOGIN_POLLS_PER_CLIENT: '10000',
      SVC_TRIGGERS_MAX_PER_PROJECT: '10000',
    },
  })
})
afterAll(() => service.close())

describe('completeness of evidence', () => {
  test('many of every kind of change, in random order', async () => {
    const shuffled = Array.from({ length: rounds }, () => changes)
      .flat()
      .map((change) => ({ change, at: Math.random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ change }) => change)
    const share = Math.ceil(shuffled.length / lanes)
    const parts = Array.from({ length: lanes }, (_, lane) => shuffled.slice(lane * share, (lane + 1) * share))
    const [world] = await Promise.all(parts.map((part) => makeChanges(service, part)))
    const { administrator } = (world as MatrixWorld).people
    const { rows, kinds, surprises } = await checkCompleteness(service, administrator)
    process.stdout.write(
      `evidence changes=${shuffled.length} rows=${rows} kinds=${kinds.size} surprises=${surprises.length}\n`,
    )
    expect(surprises).toEqual([])
    expect(rows).toBeGreaterThan(rounds * 75)
  }, 600_000)
})
