// Tests that a flood of forged tokens barely slows down callers with a valid token.
import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { throughProxy } from '@manager/harness/credentials.ts'
import { startFlood } from '../kit/flood.ts'
import { many, queueSize, useForgedTokens } from '../kit/forged-tokens.ts'
import { timedPost } from '../kit/http.ts'

const { scene, metric, withBadCheck, withWrongTail, onQuery } = useForgedTokens()

describe('forged tokens', () => {
  test(
    '[access-tokens.bounded-kdf] a flood with a right check keeps within the pool and is told when to come back; the others hardly notice',
    { timeout: 240_000 },
    async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 32 })
      const body = '{"query":"{ me { id } }"}'
      const headers = { ...throughProxy('203.0.113.7'), authorization: `Bearer ${scene.token}` }
      /** Sends normal traffic at 200 requests per second and returns the 99th percentile of the response time. */
      const normalP99 = async (seconds: number): Promise<number> => {
        const [answers, startedAt] = [[] as Promise<{ status: number; ms: number }>[], performance.now()]
        while (performance.now() - startedAt < seconds * 1_000) {
          while (answers.length < ((performance.now() - startedAt) / 1_000) * 200)
            answers.push(timedPost(agent, `${scene.service.url}/query`, headers, body))
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
        const times = (await Promise.all(answers)).map(({ status, ms }) => {
          expect(status).toBe(200)
          return ms
        })
        return times.toSorted((x, y) => x - y)[Math.floor(times.length * 0.99)] as number
      }
      const during = async (authorizations: string[]) => {
        const flood = startFlood({ ...onQuery(authorizations, 1_000, 5), delayMs: 1_000 })
        await new Promise((resolve) => setTimeout(resolve, 2_000))
        return { p99: await normalP99(3), ...(await flood) }
      }
      await normalP99(3)
      const ratios: number[] = []
      // Repeat until one round is quiet enough: other load on the machine disturbs some rounds.
      for (let round = 0; round < 6 && Math.min(...ratios) > 1.3; round++) {
        const runsBefore = await metric('svc_auth_kdf_runs_total')
        const flooded = await during(many(6_000, withWrongTail))
        const runs = (await metric('svc_auth_kdf_runs_total')) - runsBefore
        const quiet = await normalP99(3)
        const cheap = await during(many(6_000, withBadCheck))
        ratios.push(flooded.p99 / Math.max(quiet, cheap.p99))
        process.stdout.write(
          `forged with a right check: p99 quiet=${quiet.toFixed(1)} bad check=${cheap.p99.toFixed(1)} right check=${flooded.p99.toFixed(1)} ms, kdf_runs=${runs}, answers ${JSON.stringify(flooded.statuses)}\n`,
        )
        for (const status of Object.keys(flooded.statuses)) expect(['401', '503']).toContain(status)
        expect(flooded.withoutRetryAfter).toBe(0)
        // Five tokens are hashed before the prefix is blocked, plus the tokens that are already in the queue.
        expect(runs).toBeLessThanOrEqual(5 + queueSize + 1)
        expect(flooded.statuses['401'] ?? 0).toBeLessThanOrEqual(runs)
      }
      agent.destroy()
      expect(Math.min(...ratios)).toBeLessThanOrEqual(1.3)
    },
  )
})
