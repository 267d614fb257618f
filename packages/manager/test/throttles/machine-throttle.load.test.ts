// Tests the throttle for failed machine credentials with the Redis clock, and during a Redis outage.
import { describe, expect, test } from 'vitest'
import { statuses } from '@manager/harness/credentials.ts'
import { startBlackholeProxy } from '../kit/blackhole-proxy.ts'
import { redisUrl } from '@manager/harness/run-engines.ts'
import { freshClient } from '../kit/machines.ts'
import { block, fail, pause, refused, useMachineService, waitForRedis } from '../kit/wrong-machine-tokens.ts'

const { succeed, startReplica } = useMachineService(5_000)

describe('how long a block lasts', () => {
  test('[machine-auth.throttle] [machine-auth.retry-after] with Redis blocks double and are capped as configured', async () => {
    const quick = await startReplica({
      waitsForRedis: true,
      env: {
        SVC_THROTTLES_MACHINE_FAILURES: '2',
        SVC_THROTTLES_MACHINE_WINDOW_MS: '60000',
        SVC_THROTTLES_MACHINE_BLOCK_MS: '2000',
        SVC_THROTTLES_MACHINE_MAX_BLOCK_MS: '4400',
      },
    })
    await waitForRedis(quick, 5_000)
    const client = freshClient()
    expect((await fail(quick, client)).status).toBe(401)
    // The log contains the intended duration of a block. The clock only proves that the block does not end earlier
    // than that.
    const meant = () => quick.logLines.flatMap(({ block_ms }) => (block_ms === undefined ? [] : [block_ms]))
    for (const blocks of [[2_000], [2_000, 4_000], [2_000, 4_000, 4_400]]) {
      const start = performance.now()
      expect((await fail(quick, client)).status).toBe(401)
      let answer = await fail(quick, client)
      expect(answer.status).toBe(429)
      expect(meant()).toEqual(blocks)
      while (answer.status === 429) {
        expect(answer.headers.get('retry-after')).toMatch(/^[1-5]$/)
        await pause(10)
        answer = await fail(quick, client)
      }
      expect(answer.status).toBe(401)
      expect(performance.now() - start).toBeGreaterThan((blocks.at(-1) ?? 0) - 10)
    }
  })
})

describe('who shares the counters', () => {
  test('[machine-auth.counters-redis] when Redis stops answering, what the replica saw itself still counts', async () => {
    const { hostname, port } = new URL(redisUrl())
    const proxy = await startBlackholeProxy({ host: hostname, port: Number(port || 6379) })
    const replica = await startReplica({ env: { SVC_REDIS_URL: `redis://127.0.0.1:${proxy.port}` } })
    await waitForRedis(replica, 5_000)
    const [client, other] = [freshClient(), freshClient()]
    expect(await statuses(6, () => fail(replica, client))).toEqual(refused(6))
    await block(replica, other)
    proxy.blackhole()
    expect(await statuses(5, () => fail(replica, client))).toEqual([...refused(4), 429])
    expect(replica.world.redis.isUp()).toBe(false)
    expect((await fail(replica, other)).status).toBe(429)
    expect((await succeed(replica, client)).status).toBe(404)
    expect((await fail(replica, client)).status).toBe(401)
    await proxy.close()
  })
})
