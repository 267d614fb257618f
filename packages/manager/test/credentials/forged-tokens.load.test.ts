// Tests forged tokens at a rate that would overload the service if it hashed each token.
import { describe, expect, test } from 'vitest'
import { startFlood } from '../kit/flood.ts'
import { many, useForgedTokens } from '../kit/forged-tokens.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'

const { metric, withBadCheck, onQuery } = useForgedTokens()

describe('forged tokens', () => {
  test(
    '[access-tokens.keyed-check] 2,000 a second with a bad check cause no run of the KDF',
    { timeout: 60_000 },
    async () => {
      const before = await metric('svc_auth_kdf_runs_total')
      const { statuses } = await startFlood(onQuery(many(5_000, withBadCheck), 2_000, loadSize(2, 4)))
      expect(Object.keys(statuses)).toEqual(['401'])
      expect(statuses['401']).toBeGreaterThan(loadSize(3_500, 7_000))
      expect((await metric('svc_auth_kdf_runs_total')) - before).toBe(0)
    },
  )
})
