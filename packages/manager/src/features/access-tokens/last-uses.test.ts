// Tests that the last use of a token is recorded even if the buffer is full.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedAccessToken, seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { createLastUses } from './last-uses.service.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

test('a full buffer accepts a newer use of a token that it contains, and no other token', async () => {
  const person = await seedUser(service.sql, 'anna')
  await seedAccessToken(service.sql, person)
  await seedAccessToken(service.sql, person)
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from personal_access_tokens order by id',
  )
  const [known, additional] = rows.map(({ id }) => id) as [string, string]
  let now = new Date('2026-01-01T00:00:00Z')
  const { database, log } = service.world
  const uses = createLastUses({ db: database.db, log, clock: { now: () => now } })
  uses.record(known)
  for (let count = 1; count < 50_000; count++) uses.record(randomUUID())
  now = new Date('2026-01-01T00:00:05Z')
  uses.record(known)
  uses.record(additional)
  await uses.close()
  const stored = await service.sql.query('select id, last_used_at from personal_access_tokens order by id')
  expect(stored.rows).toEqual([
    { id: known, last_used_at: now },
    { id: additional, last_used_at: null },
  ])
})
