// Credentials end on one process while two others use them: no request that starts after the answer may be accepted.
import { describe, expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import {
  allButOne,
  endCredential,
  expireSoon,
  hammer,
  startLiveWorld,
  warmCredentials,
} from '@manager/harness/live-credentials.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { acceptedAfterEnd, refusedBeforeEnd, startedAfterEnd } from '@manager/harness/revocation.ts'

describe('the check itself', () => {
  test('finds a use that was accepted after the end, and one that was refused before it', () => {
    const endings = new Map([['a', { askedAt: 8, answeredAt: 10 }]])
    const late = { credential: 'a', startedAt: 11, answeredAt: 12, accepted: true }
    const early = { credential: 'a', startedAt: 1, answeredAt: 7, accepted: false }
    const meanwhile = { ...early, answeredAt: 9 }
    const uses = [late, { ...late, startedAt: 10 }, { ...late, accepted: false }, early, meanwhile]
    expect(acceptedAfterEnd(uses, endings)).toEqual([late])
    expect(refusedBeforeEnd(uses, endings)).toEqual([early])
    expect(refusedBeforeEnd([{ ...early, credential: 'b' }], endings)).toHaveLength(1)
  })
})

describe('revocation', () => {
  test(
    '[access-tokens.immediate] [machine-users.rotate] [machine-users.disable] revoked, deleted, expired, rotated and disabled credentials are refused by every process at once',
    { timeout: 600_000 },
    async () => {
      const database = await createScratchDatabase()
      const { world, sql, addToken, addMachine, stop } = await startLiveWorld(database.url)
      for (let i = 0; i < 12; i++) await addToken(i % 2 === 0 ? 'query' : 'validate')
      for (let i = 0; i < 30; i++) await addMachine()
      await warmCredentials(world)
      // These four expire in the course of the run instead.
      const expiring = world.live.filter(({ kind }) => kind !== 'machine').slice(-4)
      const toEnd = allButOne(world).filter((live) => !expiring.includes(live))
      const expiries = await expireSoon(sql, expiring)
      const { uses, endings } = await hammer(
        world,
        toEnd.toSorted(() => Math.random() - 0.5),
        {
          seconds: 10,
          endOne: (live) => endCredential(world, live),
          fewest: 20,
          perKind: loadSize(150, 500),
        },
      )
      for (const [secret, end] of expiries) endings.set(secret, end)
      await stop()
      await database.drop()
      const late = startedAfterEnd(uses, endings)
      const stale = acceptedAfterEnd(uses, endings)
      process.stdout.write(
        `revocation: accepted_after=${stale.length} of ${late.length} started after ${endings.size} endings, ${uses.length} uses\n`,
      )
      expect(stale).toEqual([])
      expect(refusedBeforeEnd(uses, endings)).toEqual([])
      expect(endings.size).toBeGreaterThanOrEqual(20 + expiring.length)
      for (const secret of endings.keys())
        expect(late.some(({ credential }) => credential === secret)).toBe(true)
    },
  )
})
