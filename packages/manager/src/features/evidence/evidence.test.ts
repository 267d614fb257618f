// These tests cover the evidence routes: access control, names, windows and the response format.
import { describe, expect, test } from 'vitest'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { bearer, call, createToken } from '@manager/harness/credentials.ts'
import { aroundNow, runEvidence } from '../../../test/kit/evidence.ts'
import { whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { createAudit, createSystemActor } from '../../platform/audit/append.ts'
import type { ChainObject } from '../../platform/audit/chain-object.ts'
import type { Actor } from '../../policy/actor.ts'
import { indexByName } from './evidence-query.pure.ts'
import { createEvidenceService } from './evidence.service.ts'
import { evidenceQueries } from './queries.pure.ts'
import { readWindow } from './window.pure.ts'

const { service, admin, project, member } = useProject()
const list = '/api/audit/evidence'
const one = `${list}/access-grants`
const names = {
  access:
    'access-grants access-revocations role-changes privileged-access machine-user-lifecycle credential-rotations stale-credentials',
  auth: 'pat-lifecycle cli-logins failed-authentications lockouts endpoint-changes settings-changes trigger-changes',
  operations:
    'pilet-releases trigger-executions esb-traffic-summary esb-failures audit-access access-review-attestations',
  people: 'invitations provisioning',
}
const allNames = Object.values(names).flatMap((group) => group.split(' '))
const countWaiting = async (): Promise<number> =>
  (
    await service.sql.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).rows[0]?.waiting ?? 0
const get = (path: string) => call(service.url, path, headersOf(admin))

describe('evidence', () => {
  test('[evidence.list] the list describes every query', async () => {
    const { status, body, headers } = await get(list)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(body)).toEqual(['names', 'queries'])
    expect(body.names).toEqual(allNames)
    expect(body.queries.map(({ name }: { name: string }) => name)).toEqual(body.names)
    for (const query of body.queries) {
      expect(Object.keys(query)).toEqual(['name', 'title', 'description', 'controls', 'columns'])
      expect(query.title).toMatch(/^[A-Z]/)
      expect(query.description).toMatch(/\.$/)
      expect(query.controls.join()).toMatch(/ISO\/IEC 27001.*SOC 2.*NIST SP 800-53/)
      for (const column of query.columns) expect(column).toMatch(/^[a-z][a-z0-9_]*$/)
    }
  })

  test('[evidence.administrator] both routes need gate and user, or a token, and the system role administrator', async () => {
    const owner = await member('owner', 'owner')
    const { token: ofAdmin } = await createToken(service, admin)
    const { token: ofOwner } = await createToken(service, owner)
    const { token: machine } = await seedMachineUser(service.sql, project)
    const gate = { 'x-proxy-auth': proxySecret }
    const cases: [Record<string, string>, number][] = [
      [headersOf(admin), 200],
      [{ ...gate, ...bearer(ofAdmin) }, 200],
      [headersOf(owner), 403],
      [{ ...gate, ...bearer(ofOwner) }, 403],
      [gate, 401],
      [{ 'x-token-subject': admin.id }, 401],
      [bearer(ofAdmin), 401],
      [{ ...gate, ...bearer(machine) }, 401],
    ]
    for (const path of [list, one])
      for (const [headers, status] of cases)
        expect([path, headers, (await call(service.url, path, headers)).status]).toEqual([
          path,
          headers,
          status,
        ])
    // A caller without permission does not learn which names exist.
    expect((await call(service.url, `${list}/nothing`, headersOf(owner))).status).toBe(403)
    expect((await get(`${list}/nothing`)).status).toBe(404)
  })

  test('[evidence.names-access] [evidence.names-auth] [evidence.names-operations] [evidence.result] every name runs and answers the same fields', async () => {
    for (const name of allNames) {
      const window = aroundNow()
      const { status, body, headers } = await runEvidence(service, admin, name, window)
      expect([name, status, headers.get('cache-control')]).toEqual([name, 200, 'no-store'])
      expect(Object.keys(body)).toEqual(
        'name from to generated_at columns rows row_count truncated chain'.split(' '),
      )
      expect(body).toMatchObject({ name, ...window, truncated: false, row_count: body.rows.length })
      expect(body.generated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      for (const row of body.rows) expect(Object.keys(row)).toEqual(body.columns)
      expect(body.chain).toMatchObject({ status: expect.stringMatching(/^(ok|empty)$/) })
    }
    for (const name of ['nothing', 'Access-Grants', '__proto__', 'constructor', 'access-grants%00']) {
      const { status, body } = await runEvidence(service, admin, name)
      expect([name, status, body.error]).toEqual([name, 404, 'evidence query not found'])
    }
  })

  test('[evidence.result] a run is in the trail of the system before its response begins, with its window', async () => {
    const window = { from: '2026-01-01T01:00:00+01:00', to: '2026-02-01T00:00:00Z' }
    const { body } = await runEvidence(service, admin, 'lockouts', window)
    expect(body).toMatchObject({ from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' })
    const { rows } = await service.sql.query(
      `select chain_id, entity_id, user_id, metadata from audit_logs
       where entity_type = 'evidence' and action = 'read' order by seq desc limit 1`,
    )
    expect(rows[0]).toMatchObject({
      chain_id: '00000000-0000-0000-0000-000000000000',
      entity_id: 'lockouts',
      user_id: admin.id,
      metadata: { from: body.from, to: body.to },
    })
    // A rejected request is not recorded as a run.
    const count = async (): Promise<unknown> =>
      (await service.sql.query("select count(*) from audit_logs where entity_type = 'evidence'")).rows
    const before = await count()
    await runEvidence(service, admin, 'lockouts', { from: 'yesterday' })
    await runEvidence(service, admin, 'nothing')
    expect(await count()).toEqual(before)
  })

  test('a HEAD is no run', async () => {
    const response = await fetch(service.url + one, { method: 'HEAD', headers: headersOf(admin) })
    expect(response.status).toBe(404)
  })

  test('whoever leaves before the first row is read frees the connection to the database', async () => {
    const leaving = new AbortController()
    await whileLocked(service.database.url, ['lock table auth_failures', []], async () => {
      const asking = Array.from({ length: service.config.databaseReportPoolSize - 1 }, () =>
        fetch(`${service.url}${list}/lockouts`, { headers: headersOf(admin), signal: leaving.signal }),
      )
      await expect.poll(countWaiting).toBe(asking.length)
      expect((await get(one)).status).toBe(503)
      leaving.abort()
      await Promise.allSettled(asking)
      await expect.poll(async () => (await get(one)).status).toBe(200)
      // The statements of these runs are still waiting. Other sessions may also wait for the table.
      expect(await countWaiting()).toBeGreaterThan(0)
    })
  })
})

describe('the window of evidence', () => {
  test('[evidence.window] without one it is the last 90 days by the clock of the database', async () => {
    const { body } = await runEvidence(service, admin, 'access-grants')
    expect(body.to).toBe(body.generated_at)
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(90 * 86_400_000)
    const { rows } = await service.sql.query(
      `select $1::timestamptz between now() - interval '1 minute' and now() as is_now`,
      [body.to],
    )
    expect(rows).toEqual([{ is_now: true }])
  })

  test('[evidence.window] what is malformed or inverted is refused, and the text says what is wrong', async () => {
    const to = '2026-01-01T00:00:00Z'
    const refused: [Record<string, string>, RegExp][] = [
      [{ from: 'yesterday' }, /^from must be an RFC 3339 time/],
      [{ to: '2026-01-01' }, /^to must be an RFC 3339 time/],
      [{ to: '2026-01-01T00:00:00' }, /^to must be an RFC 3339 time/],
      [{ to: '2026-02-30T00:00:00Z' }, /^to must be an RFC 3339 time/],
      [{ from: '' }, /^from must be an RFC 3339 time/],
      [{ from: '1767225600' }, /^from must be an RFC 3339 time/],
      [{ from: to, to }, /^from must be before to/],
      [{ from: '2026-01-01T00:00:01Z', to }, /^from must be before to/],
      [{ from: '2999-01-01T00:00:00Z' }, /^from must be before to/],
    ]
    for (const [window, text] of refused) {
      const { status, body } = await runEvidence(service, admin, 'access-grants', window)
      expect([window, status, body.code]).toEqual([window, 400, 'bad_request'])
      expect(body.error).toMatch(text)
    }
    expect((await get(`${one}?from=${to}&from=${to}`)).status).toBe(400)
    expect((await get(`${one}?to=2026-01-01T00:00:00+01:00`)).body.error).toMatch(/write \+ as %2B/)
  })

  test('[evidence.window] it may be of any length, for every query', async () => {
    const window = { from: '0001-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' }
    for (const { name } of evidenceQueries) {
      const { status, body } = await runEvidence(service, admin, name, window)
      expect([name, status, body.from, body.to]).toEqual([name, 200, window.from, window.to])
      expect(body.row_count).toBe(body.rows.length)
    }
    const first = await runEvidence(service, admin, 'lockouts', { to: '0001-01-02T00:00:00Z' })
    expect([first.status, first.body.from]).toEqual([200, window.from])
  })

  test('[evidence.window] only one end leaves the other where it belongs', () => {
    const now = new Date('2026-06-30T12:00:00Z')
    const read = (asked: object) => {
      const { from, to } = readWindow(asked, now)
      return [from.toISOString(), to.toISOString()]
    }
    expect(read({})).toEqual(['2026-04-01T12:00:00.000Z', '2026-06-30T12:00:00.000Z'])
    expect(read({ from: '2026-06-01T00:00:00Z' })[1]).toBe('2026-06-30T12:00:00.000Z')
    expect(read({ to: '2026-04-01T00:00:00Z' })[0]).toBe('2026-01-01T00:00:00.000Z')
  })

  test('[evidence.window] the end does not belong to it, the beginning does', async () => {
    const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00.000Z']
    for (const [seq, time] of times.entries())
      await service.sql.query(
        `insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes,
           ip_address, user_agent, created_at, prev_hash, hash)
         values ($1, $2, gen_random_uuid(), 'endpoint', 'x', 'update', '', '{}', '{}', '', '', $3, '', '')`,
        [project.id, 1_000_000 + seq, time],
      )
    const found = async (from: string, to: string) =>
      (await runEvidence(service, admin, 'endpoint-changes', { from, to })).body.rows.map(
        (row: { occurred_at: string }) => row.occurred_at,
      )
    const [first = '', second = '', third = ''] = times
    expect(await found(first, third)).toEqual([second, first])
    expect(await found(second, third)).toEqual([second])
    expect(await found(first, second)).toEqual([first])
  })
})

describe('many rows of evidence', () => {
  test('[evidence.window] rows are cut at the most there may be, the newest stay, and truncated tells so', async () => {
    await service.sql.query(
      `insert into auth_failures (minute, event, kind, client, count)
       select date_trunc('minute', now()) - n * interval '1 minute', 'failure', 'pat', '192.0.2.1', 1
       from generate_series(11, 22) n`,
    )
    // The window ends before the failures of the previous tests, which are written a few seconds later.
    const window = { to: new Date(Date.now() - 600_000).toISOString() }
    const { database, clock } = service.world
    const runWith = async (maxRows: number) => {
      const evidence = createEvidenceService({
        db: database.db,
        audit: createAudit(clock),
        openSnapshot: database.openSnapshot,
        auditTrail: { chainStatus: () => Promise.resolve({} as ChainObject) },
        queries: evidenceQueries,
        maxRows,
      })
      const run = await evidence.run(
        { ...createSystemActor('test'), user: { id: admin.id }, tokenId: null } as Actor,
        'failed-authentications',
        window,
        new AbortController().signal,
      )
      const minutes: string[] = []
      for (let next = await run.rows.next(); ; next = await run.rows.next()) {
        if (next.done === true) {
          await run.close()
          return { ...next.value, minutes }
        }
        minutes.push(...next.value.map(({ minute }) => String(minute)))
      }
    }
    const all = await runWith(12)
    expect(all).toMatchObject({ count: 12, isTruncated: false })
    expect(all.minutes).toEqual(all.minutes.toSorted().toReversed())
    const { minutes, ...cut } = await runWith(10)
    expect(cut).toEqual({ count: 10, isTruncated: true })
    expect(minutes).toEqual(all.minutes.slice(0, 10))
  })

  test('two queries of one name stop the start', () => {
    const [first] = evidenceQueries
    expect(() => indexByName([...evidenceQueries, first as (typeof evidenceQueries)[0]])).toThrow(
      'duplicate evidence query name: access-grants',
    )
  })
})
