// Tests an accepted call that races with the deletion of its endpoint.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../kit/gateway.ts'

const maxBytes = 100_000
let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_ESB_MAX_REQUEST_BYTES: String(maxBytes) } })
})
afterAll(() => gateway.close())
afterEach(() => gateway.upstream.reset())

const endpoint = (input: Record<string, unknown> = {}) =>
  gateway.endpoint({ url: `${gateway.upstream.url}/target`, ...input })
const remove = async (mutation: 'deleteEndpoint' | 'deleteMachineUser', id: string) =>
  (await gateway.service.query(gateway.admin, `mutation($id: ID!) { done: ${mutation}(id: $id) }`, { id }))
    .error

describe('an endpoint that served a call', () => {
  test('stays when its first served call, after refused ones, meets the deletion', async () => {
    const { sql } = gateway.service
    const waiting = async (sessions: number): Promise<void> => {
      await expect
        .poll(
          async () =>
            (
              await sql.query(
                "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
              )
            ).rowCount,
          { interval: 5 },
        )
        .toBe(sessions)
    }
    const race = async (): Promise<[number, string | null]> => {
      const { id, accessId, path } = await endpoint()
      await gateway.access.change(gateway.admin, accessId, { enabled: false })
      expect((await gateway.send(path)).status).toBe(403)
      await gateway.access.change(gateway.admin, accessId, { enabled: true })
      const log = await sql.connect()
      await log.query('begin')
      await log.query('lock table esb_audit_logs in share mode')
      const call = gateway.send(path)
      // The call has recorded its pair of endpoint and machine user, and waits for the log for at most 1 s.
      await waiting(1)
      const deletion = remove('deleteEndpoint', id)
      await waiting(2)
      await log.query('commit')
      log.release()
      return [(await call).status, await deletion]
    }
    let outcome = await race()
    // On a busy machine, the race may take longer than the call is willing to wait.
    for (let tries = 0; outcome[0] === 503 && tries < 3; tries++) outcome = await race()
    expect(outcome).toEqual([200, expect.stringContaining('cannot be deleted')])
  })
})
