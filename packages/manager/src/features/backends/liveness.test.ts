import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  backdateHeartbeat,
  callbackUrl,
  heartbeat,
  register,
  readStoredBackend,
} from '@manager/harness/backends.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'
import { selectSettings } from '../../config/config.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { createEncryptionRing } from '../../platform/secrets/keys.ts'
import { createSecrets } from '../../platform/secrets/secrets.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createBackendMetrics } from './backends.metrics.ts'
import { backendSettings } from './backends.settings.ts'
import { createLivenessService } from './liveness.service.ts'

const { service, project, other } = useProject({ withOther: true })
beforeEach(async () => {
  await service.sql.query('delete from backend_registrations')
  await service.sql.query(
    `update heartbeat_reception set received_until = 'infinity',
       outage_from = now() - interval '3 days', outage_until = now() - interval '3 days'`,
  )
})

/** Creates the service that other features use, with the settings of this app. */
function liveness() {
  const { config, world } = service
  const settings = selectSettings(config, backendSettings)
  return createLivenessService({
    db: world.database.db,
    database: world.database,
    log: world.log,
    secrets: createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys)),
    metrics: createBackendMetrics(createMetrics('test')),
    staleAfterMs: settings.callbacksStaleAfterMs,
    reapAfterMs: settings.callbacksReapAfterMs,
  })
}

async function backend(of: SeededProject = project, url = callbackUrl) {
  const { id: machineUserId, token } = await seedMachineUser(service.sql, of)
  const body = { application_id: of.applicationId, callback_url: url }
  const answer = await register(service, token, body)
  return {
    id: answer.body.registered_id as string,
    machineUserId,
    token,
    callbackToken: answer.body.token as string,
    signingSecret: answer.body.signing_secret as string,
  }
}
const deployment = ({ applicationId, environmentId }: SeededProject) => ({ applicationId, environmentId })
/**
 * Runs the function in one transaction, in which `now()` is constant, so that times are exact to the
 * millisecond.
 */
async function atOnce<T>(
  work: (tx: Tx, move: (id: string, ago: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const { db } = service.world.database
  return db.transaction((tx) =>
    work(tx, async (id, ago) => {
      await sql`update backend_registrations set last_heartbeat = now() - ${ago}::interval where id = ${id}`.execute(
        tx,
      )
    }),
  )
}
const targetsOf = async (db: Reads, ...of: SeededProject[]) =>
  liveness().listLiveTargets(db, of.map(deployment))
const isThere = async (id: string): Promise<boolean> => (await readStoredBackend(service, id)) !== undefined

describe('a silent backend', () => {
  test('[backends.stale] is no longer chosen after 90 seconds, and again after its next heartbeat', async () => {
    const { id, token } = await backend()
    const seen = await atOnce(async (tx, move) => {
      const look = async (ago: string) => {
        await move(id, ago)
        const [found] = await liveness().listDeployments(tx, [project.applicationId])
        return [found?.isLive, (await targetsOf(tx, project)).length]
      }
      return [await look('89.999 seconds'), await look('90.001 seconds')]
    })
    expect(seen).toEqual([
      [true, 1],
      [false, 0],
    ])
    await heartbeat(service, token, id)
    expect(await targetsOf(service.world.database.db.read, project)).toHaveLength(1)
  })

  test('[backends.stale] is removed after 10 minutes, without a row in the audit trail', async () => {
    const [silent, late, live] = [await backend(), await backend(), await backend()]
    await backdateHeartbeat(service, silent.id, '601 seconds')
    await backdateHeartbeat(service, late.id, '540 seconds')
    await runSchedule(service, 'backends-reap')
    expect(await Promise.all([silent, late, live].map(({ id }) => isThere(id)))).toEqual([false, true, true])
    expect((await heartbeat(service, silent.token, silent.id)).status).toBe(404)
    const { rows } = await service.sql.query('select action from audit_logs where entity_id = $1', [
      silent.id,
    ])
    expect(rows).toEqual([{ action: 'create' }])
    expect(service.logLines).toContainEqual(expect.objectContaining({ removed: 1 }))
    await runSchedule(service, 'backends-count')
    const text = await service.world.metrics.registry.getSingleMetricAsString('svc_backends')
    expect(text).toContain('svc_backends{state="live"} 1')
    expect(text).toContain('svc_backends{state="stale"} 1')
  })

  test('[backends.stale] both times can be configured', async () => {
    const env = { SVC_CALLBACKS_STALE_AFTER: '5s', SVC_CALLBACKS_REAP_AFTER: '2m' }
    const strict = await startTestApp({ database: service.database, env })
    const [gone, kept] = [await backend(), await backend()]
    await backdateHeartbeat(service, gone.id, '121 seconds')
    await backdateHeartbeat(service, kept.id, '30 seconds')
    await runSchedule(strict, 'backends-reap')
    expect([await isThere(gone.id), await isThere(kept.id)]).toEqual([false, true])
    await runSchedule(strict, 'backends-count')
    const text = await strict.world.metrics.registry.getSingleMetricAsString('svc_backends')
    expect(text).toContain('svc_backends{state="stale"} 1')
    await strict.close()
  })

  test('more than a batch of them are removed in one run', async () => {
    const { id } = await backend()
    await service.sql.query(
      `with machines as (
         insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash)
         select gen_random_uuid(), project_id, environment_id, 'silent', 'Bearer:' || lpad(n::text, 8, '0'), true, lpad(n::text, 8, '0'), sha256(n::text::bytea)
         from machine_users cross join generate_series(1, 1100) n
         where machine_users.id = (select machine_user_id from backend_registrations where id = $1) returning id
       )
       insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
         callback_token, version, last_heartbeat)
       select gen_random_uuid(), project_id, application_id, environment_id, machines.id, callback_url,
         callback_token, version, now() - interval '1 day' from backend_registrations r cross join machines`,
      [id],
    )
    await runSchedule(service, 'backends-reap')
    const { rows } = await service.sql.query('select id from backend_registrations')
    expect(rows).toEqual([{ id }])
  })

  test('whose row is in use is not waited for', async () => {
    const { id } = await backend()
    await backdateHeartbeat(service, id, '1 hour')
    const use = 'update backend_registrations set last_heartbeat = now() where id = $1'
    await whileLocked(service.database.url, [use, [id]], async (commit) => {
      await runSchedule(service, 'backends-reap')
      await commit()
    })
    await runSchedule(service, 'backends-reap')
    expect(await isThere(id)).toBe(true)
  })
})

describe('an outage of ours', () => {
  const outage = (from: string, until: string, received: string) =>
    service.sql.query(
      `update heartbeat_reception set outage_from = now() - $1::interval, outage_until = now() - $2::interval,
         received_until = now() - $3::interval`,
      [from, until, received],
    )

  test('does not count as silence of a backend: it stays registered and is chosen', async () => {
    const { id } = await backend()
    await backdateHeartbeat(service, id, '20 minutes')
    // The last heartbeat arrived 10 s before the outage, which ended 20 s ago.
    await outage('1190 seconds', '20 seconds', '0')
    await runSchedule(service, 'backends-reap')
    expect(await targetsOf(service.world.database.db.read, project)).toMatchObject([{ registrationId: id }])
    // An ongoing outage does not count either. Here, one process removes silent backends while no process
    // receives heartbeats.
    await outage('3 days', '3 days', '1190 seconds')
    await runSchedule(service, 'backends-reap')
    expect(await targetsOf(service.world.database.db.read, project)).toMatchObject([{ registrationId: id }])
  })

  test('covers only the time that it lasted', async () => {
    const { id } = await backend()
    await backdateHeartbeat(service, id, '20 minutes')
    // The backend was silent for 11 minutes outside the outage.
    await outage('1080 seconds', '540 seconds', '0')
    await runSchedule(service, 'backends-reap')
    expect(await isThere(id)).toBe(false)
  })
})

describe('what others are told', () => {
  test('deployments are environments with a registration, live or not', async () => {
    const [live, stale] = [await backend(), await backend(other)]
    await backend()
    await backdateHeartbeat(service, stale.id, '5 minutes')
    await backdateHeartbeat(service, live.id, '5 minutes')
    const found = await atOnce((tx) =>
      liveness().listDeployments(tx, [project.applicationId, other.applicationId, randomUUID()]),
    )
    expect(found.toSorted((a, b) => Number(b.isLive) - Number(a.isLive))).toEqual([
      { ...deployment(project), isLive: true },
      { ...deployment(other), isLive: false },
    ])
  })

  test('targets are in the order of the deployments, the freshest first, five of each at most, with their tokens', async () => {
    const own = [await backend(other), await backend(other)]
    const many: Awaited<ReturnType<typeof backend>>[] = []
    for (let n = 0; n < 7; n++) many.push(await backend(project, `https://b${n}.example.com/hooks`))
    const targets = await atOnce(async (tx, move) => {
      for (const [n, { id }] of many.entries()) await move(id, `${10 + n} seconds`)
      await move(own[0]?.id as string, '20 seconds')
      await move(own[1]?.id as string, '10 seconds')
      return targetsOf(tx, project, other)
    })
    expect(targets).toEqual([
      ...many.slice(0, 5).map(({ id, callbackToken: token, signingSecret }, n) => ({
        ...deployment(project),
        registrationId: id,
        projectId: project.id,
        token,
        signingSecret,
        callbackUrl: `https://b${n}.example.com/hooks`,
      })),
      ...own.toReversed().map(({ id, callbackToken: token, signingSecret }) => ({
        ...deployment(other),
        registrationId: id,
        projectId: other.id,
        token,
        signingSecret,
        callbackUrl,
      })),
    ])
  })

  test('a token that does not open leaves out its backend alone', async () => {
    const [broken, unsigned, good] = [await backend(), await backend(), await backend()]
    for (const [column, { id }] of [
      ['callback_token', broken] as const,
      ['signing_secret', unsigned] as const,
    ])
      await service.sql.query(
        `update backend_registrations set ${column} = (select ${column} from backend_registrations where id = $2) where id = $1`,
        [id, good.id],
      )
    expect(await targetsOf(service.world.database.db.read, project)).toMatchObject([
      { registrationId: good.id },
    ])
    for (const { id } of [broken, unsigned])
      expect(service.logLines).toContainEqual(expect.objectContaining({ level: 'error', registration: id }))
  })

  test('all of them in one statement', async () => {
    await backend()
    await backend(other)
    service.statements.length = 0
    await targetsOf(service.world.database.db.read, project, other)
    expect(service.statements).toHaveLength(1)
  })

  test('stays after two outages of ours in a row', async () => {
    const { id } = await backend()
    await backdateHeartbeat(service, id, '15 minutes')
    // The service was down for 14 minutes, up for 20 s and down again for 40 s.
    await service.sql.query(
      `update heartbeat_reception set outage_from = now() - interval '15 minutes',
         outage_until = now() - interval '1 minute', received_until = now() - interval '40 seconds'`,
    )
    await runSchedule(service, 'heartbeat-reception')
    await runSchedule(service, 'backends-reap')
    expect(await isThere(id)).toBe(true)
    await service.sql.query(
      `update heartbeat_reception set outage_from = now() - interval '15 minutes',
         outage_until = now() - interval '14 minutes', received_until = now() - interval '40 seconds'`,
    )
    await runSchedule(service, 'heartbeat-reception')
    await runSchedule(service, 'backends-reap')
    expect(await isThere(id), 'between the two there was time for heartbeats').toBe(false)
  })
})

test('the service does not start when backends would be removed before they are stale', async () => {
  const env = { SVC_CALLBACKS_STALE_AFTER: '600s', SVC_CALLBACKS_REAP_AFTER: '60s' }
  await expect(startTestApp({ env, database: service.database })).rejects.toThrow(
    'callbacks.reap_after must not be shorter than callbacks.stale_after',
  )
})
