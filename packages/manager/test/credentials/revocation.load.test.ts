// Tests the revocation of credentials on one process while two other processes use them. No request that
// starts after the revocation response may be accepted.
import { describe, expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import {
  omitOneOfEachKind,
  expireSoon,
  invalidateCredential,
  startLiveWorld,
  useAndInvalidate,
  warmCredentials,
} from '@manager/harness/live-credentials.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import {
  findAcceptedAfterInvalidation,
  findRejectedBeforeInvalidation,
  findUsesAfterInvalidation,
} from '@manager/harness/revocation.ts'

describe('the check itself', () => {
  test('finds a use that was accepted after the end, and one that was refused before it', () => {
    const invalidations = new Map([['a', { requestedAt: 8, confirmedAt: 10 }]])
    const late = { credential: 'a', startedAt: 11, answeredAt: 12, accepted: true }
    const early = { credential: 'a', startedAt: 1, answeredAt: 7, accepted: false }
    const during = { ...early, answeredAt: 9 }
    const uses = [late, { ...late, startedAt: 10 }, { ...late, accepted: false }, early, during]
    expect(findAcceptedAfterInvalidation(uses, invalidations)).toEqual([late])
    expect(findRejectedBeforeInvalidation(uses, invalidations)).toEqual([early])
    expect(findRejectedBeforeInvalidation([{ ...early, credential: 'b' }], invalidations)).toHaveLength(1)
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
      // The last four tokens expire during the run instead of being revoked.
      const expiring = world.credentials.filter(({ kind }) => kind !== 'machine').slice(-4)
      const toInvalidate = omitOneOfEachKind(world).filter((credential) => !expiring.includes(credential))
      const expiries = await expireSoon(sql, expiring)
      const { uses, invalidations } = await useAndInvalidate(
        world,
        toInvalidate.toSorted(() => Math.random() - 0.5),
        {
          seconds: 10,
          invalidate: (credential) => invalidateCredential(world, credential),
          minInvalidated: 20,
          perKind: loadSize(150, 500),
        },
      )
      for (const [secret, expiry] of expiries) invalidations.set(secret, expiry)
      await stop()
      await database.drop()
      const late = findUsesAfterInvalidation(uses, invalidations)
      const stale = findAcceptedAfterInvalidation(uses, invalidations)
      process.stdout.write(
        `revocation: accepted_after=${stale.length} of ${late.length} started after ${invalidations.size} invalidations, ${uses.length} uses\n`,
      )
      expect(stale).toEqual([])
      expect(findRejectedBeforeInvalidation(uses, invalidations)).toEqual([])
      expect(invalidations.size).toBeGreaterThanOrEqual(20 + expiring.length)
      for (const secret of invalidations.keys())
        expect(late.some(({ credential }) => credential === secret)).toBe(true)
    },
  )
})
