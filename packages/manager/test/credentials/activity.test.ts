// Tests the last activity of principals: every authenticated caller is recorded, but infrequently and in batches.
import { describe, expect, test, vi } from 'vitest'
import { createActivity } from '../../src/platform/credentials/activity.ts'
import type { Statement } from '../../src/platform/postgres/statements.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { startTestApp } from '../kit/app.ts'
import {
  basicValue,
  bearer,
  call,
  createMachine,
  createToken,
  throughProxy,
  validate,
} from '@manager/harness/credentials.ts'
import { tenantHeaders } from '../kit/inbox.ts'
import { useProject } from '../kit/project.ts'
import { seedBasicUser, seedUser } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

/** Sends calls to another process and stops it, which flushes the recorded activity. */
async function afterCalls(calls: (url: string) => Promise<unknown>): Promise<void> {
  const replica = await startTestApp({ database: service.database })
  await calls(replica.url)
  await replica.close()
}
const isActive = async (table: string, column: string, id: string): Promise<boolean> =>
  (
    await service.sql.query(
      `select 1 from ${table} where ${column} = $1 and last_active_at > now() - interval '10 minutes'`,
      [id],
    )
  ).rowCount === 1
const isActiveUser = (id: string) => isActive('user_activity', 'user_id', id)
const isActiveMachine = (id: string) => isActive('machine_user_activity', 'machine_user_id', id)

describe('activity', () => {
  test('[access-review.entry-grant] of people is noted by session, token, tenant headers and what the proxy asks', async () => {
    const [bySession, byToken, inTenant, signedIn, validated, idle] = await Promise.all(
      ['session', 'token', 'tenant', 'signed in', 'validated', 'idle'].map((name) =>
        seedUser(service.sql, name),
      ),
    )
    const people = [bySession, byToken, inTenant, signedIn, validated, idle].map(
      (one) => one as { id: string },
    )
    const [session, owner, tenantUser, person, proxied] = people as [(typeof people)[0], ...typeof people]
    const { token } = await createToken(service, owner as never)
    const other = await createToken(service, proxied as never)
    // Creating the tokens also counted as activity.
    await afterCalls(async () => undefined)
    await service.sql.query('delete from user_activity')
    await afterCalls(async (url) => {
      await call(url, '/query', headersOf(session), { query: '{ me { id } }' })
      await call(url, '/query', { ...throughProxy(), ...bearer(token) }, { query: '{ me { id } }' })
      const headers = Object.fromEntries(tenantHeaders(tenantUser as never, { tenantId: project.tenantId }))
      await call(url, `/api/proxy/comms/${project.applicationId}/unread`, headers)
      const signIn = { user_id: person?.id, application_id: project.applicationId }
      await call(url, '/api/validate-oauth-user', throughProxy(), signIn)
      await validate(url, `Bearer ${other.token}`, project.applicationId)
    })
    const active = await Promise.all(people.map(({ id }) => isActiveUser(id)))
    expect(active).toEqual([true, true, true, true, true, false])
  })

  test('[access-review.entry-grant] of machine users is noted by token and by what the proxy asks; a refused one is not', async () => {
    const [direct, proxied, idle] = [
      await createMachine(service, admin, project.environmentId),
      await createMachine(service, admin, project.environmentId),
      await createMachine(service, admin, project.environmentId),
    ]
    const basic = await seedBasicUser(service.sql, project, 'by-password')
    const { rows } = await service.sql.query('select id from machine_users where username = $1', [
      basic.username,
    ])
    await service.sql.query('update machine_users set enabled = false where id = $1', [idle.id])
    await afterCalls(async (url) => {
      await call(
        url,
        `/api/machine/application/${project.applicationId}/tenants`,
        bearer(direct.token as string),
      )
      await call(
        url,
        `/api/machine/application/${project.applicationId}/tenants`,
        bearer(idle.token as string),
      )
      await validate(url, `Bearer ${proxied.token}`, project.applicationId)
      await validate(url, basicValue(basic.username, basic.password), project.applicationId)
    })
    const ids = [direct.id, proxied.id, rows[0].id as string, idle.id]
    expect(await Promise.all(ids.map(isActiveMachine))).toEqual([true, true, true, false])
    // Deleting a machine user also deletes its activity.
    await service.sql.query('delete from machine_users where id = $1', [direct.id])
    expect(await isActiveMachine(direct.id)).toBe(false)
  })
})

describe('the notes', () => {
  type Written = { text: string; ids: string[] }
  const start = (fails: () => boolean = () => false) => {
    const written: Written[] = []
    const run = ({ text }: Statement, [ids]: unknown[]): Promise<never[]> => {
      if (fails()) return Promise.reject(new Error('no database'))
      written.push({ text, ids: ids as string[] })
      return Promise.resolve([])
    }
    const log = { warn: vi.fn<() => void>() }
    return {
      written,
      log,
      activity: createActivity({ run, log: log as never }),
    }
  }

  test('a principal is written once an hour, whatever they do, many in one statement', async () => {
    vi.useFakeTimers()
    try {
      const { written, activity } = start()
      for (let calls = 0; calls < 1_000; calls++) activity.recordUser(`user ${calls % 10}`)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(written.map(({ ids }) => ids.length)).toEqual([10])
      for (let minute = 2; minute < 60; minute++) {
        activity.recordUser('user 1')
        await vi.advanceTimersByTimeAsync(60_000)
      }
      expect(written.length).toBe(1)
      await vi.advanceTimersByTimeAsync(60_000)
      activity.recordUser('user 1')
      await vi.advanceTimersByTimeAsync(60_000)
      expect(written.map(({ ids }) => ids.length)).toEqual([10, 1])
      await activity.close()
    } finally {
      vi.useRealTimers()
    }
  })

  test('what could not be written is tried again, and what is too much is left out', async () => {
    let isDown = true
    const { written, log, activity } = start(() => isDown)
    for (let id = 0; id < 120_000; id++) activity.recordMachineUser(String(id))
    await activity.close()
    expect([written.length, log.warn.mock.calls.length]).toEqual([0, 1])
    isDown = false
    await activity.close()
    expect(written.reduce((sum, { ids }) => sum + ids.length, 0)).toBe(100_000)
    expect(Math.max(...written.map(({ ids }) => ids.length))).toBe(5_000)
  })
})
