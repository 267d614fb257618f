// These tests cover the verification of a project's audit chain on request, part by part.
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { waitForLockWait } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { rewriteFrom } from '../../../test/kit/tampering.ts'
import { appendRows, checkpointKey, clearTrail, macKey, sealAll, tamper } from '../../../test/kit/trail.ts'
import { runVerification } from '../../platform/audit/verify-incremental.ts'
import { createChainVerificationService } from './chain-verification.service.ts'

const { service, admin, project, other, member } = useProject({ withOther: true })
beforeEach(() => clearTrail(service))

const keys = [checkpointKey]
const fields = 'status entries fromSeq toSeq isComplete firstBrokenSeq reason headHash verifiedAt'
const ask = (caller: Person, projectId = project.id, fromSeq?: number) =>
  service.query(
    caller,
    `query($projectId: ID!, $fromSeq: Int) {
      found: verifyAuditChain(projectId: $projectId, fromSeq: $fromSeq) { ${fields} }
    }`,
    { projectId, fromSeq },
  )
const verdict = async (fromSeq?: number) => {
  const { data, error } = await ask(admin, project.id, fromSeq)
  expect(error).toBeNull()
  return data.found
}
const hashAt = async (seq: number): Promise<string> =>
  (
    await service.sql.query<{ hash: string }>(
      "select encode(hash, 'hex') as hash from audit_logs where chain_id = $1 and seq = $2",
      [project.id, seq],
    )
  ).rows[0]?.hash ?? ''
/** Runs the verification job, which marks the sealed rows as verified. */
const runJob = () =>
  runVerification({ db: service.world.database.db.write, keys, macKey }, { newRows: 100_000, oldRows: 0 })
const inProject = (condition: string) => `where chain_id = '${project.id}' and ${condition}`
const whole = { isComplete: true, firstBrokenSeq: null, reason: null }

describe('verifyAuditChain', () => {
  test('[audit-append.verify-on-request] an intact chain is ok, sealed and verified before or not', async () => {
    expect(await verdict()).toMatchObject({ ...whole, status: 'empty', entries: 0, toSeq: 0, headHash: null })
    await appendRows(service, project.id, 10)
    const expected = async (entries: number) => ({
      ...whole,
      status: 'ok',
      entries,
      fromSeq: 1,
      toSeq: entries,
      headHash: await hashAt(entries),
      verifiedAt: expect.stringMatching(/Z$/),
    })
    expect(await verdict()).toEqual(await expected(10))
    await sealAll(service)
    expect(await verdict()).toEqual(await expected(10))
    await runJob()
    await appendRows(service, project.id, 5)
    expect(await verdict()).toEqual(await expected(15))
  })

  test('[audit-append.verify-on-request] continues after a part, to the end of the chain', async () => {
    await appendRows(service, project.id, 2_500)
    await appendRows(service, other.id, 10)
    await sealAll(service)
    const { database, clock } = service.world
    const limits = { rows: 1_200, checkpoints: 10, ms: 60_000 }
    const parts = createChainVerificationService({ database, clock, keys, macKey, limits })
    const found = []
    for (let fromSeq = 1; ;) {
      const { toSeq, isComplete, status, entries } = await parts.verify(project.id, fromSeq)
      found.push([status, entries, fromSeq, toSeq, isComplete])
      if (isComplete) break
      fromSeq = toSeq + 1
    }
    expect(found).toEqual([
      ['ok', 2_500, 1, 1_200, false],
      ['ok', 2_500, 1_201, 2_400, false],
      ['ok', 2_500, 2_401, 2_500, true],
    ])
    expect(await verdict(2_501)).toMatchObject({ ...whole, status: 'ok', fromSeq: 2_501, toSeq: 2_500 })
  })

  test('[audit-append.verify-on-request] finds changed, removed and recomputed rows, and a false head', async () => {
    const plants: [string, number | null, RegExp][] = [
      [`update audit_logs set description = 'x' ${inProject('seq = 7')}`, 7, /^row 7 was changed$/],
      [`delete from audit_logs ${inProject('seq = 8')}`, 8, /^row 8 is missing$/],
      [`delete from audit_logs ${inProject('seq > 15')}`, 16, /^rows are missing/],
      [`update audit_chains set hash = sha256(hash) where chain_id = '${project.id}'`, 20, /different hash/],
    ]
    for (const [change, seq, reason] of plants) {
      await clearTrail(service)
      await appendRows(service, project.id, 20)
      await sealAll(service)
      await tamper(service, change)
      expect(await verdict()).toMatchObject({
        status: 'broken',
        firstBrokenSeq: seq,
        reason: expect.stringMatching(reason),
        isComplete: true,
      })
    }
    for (const marks of [false, true]) {
      await clearTrail(service)
      await appendRows(service, project.id, 20)
      await sealAll(service)
      if (marks) await runJob()
      await service.world.database.db.transaction(async (tx) => {
        await sql`set local session_replication_role = replica`.execute(tx)
        await rewriteFrom(tx, project.id, 3)
      })
      expect([marks, (await verdict()).status]).toEqual([marks, 'broken'])
    }
  })

  test('[audit-append.verify-on-request] a part compares its start with the sealed rows before it', async () => {
    await appendRows(service, project.id, 10)
    await sealAll(service)
    await appendRows(service, project.id, 10)
    await tamper(service, `update audit_logs set hash = sha256(hash) ${inProject('seq = 10')}`)
    expect(await verdict(16)).toMatchObject({ status: 'broken', firstBrokenSeq: 10 })
    await tamper(service, `delete from audit_logs ${inProject('seq = 15')}`)
    expect(await verdict(16)).toMatchObject({ status: 'broken' })
  })

  test('[audit-append.verify-on-request] a defect of the checkpoints names no other project', async () => {
    await appendRows(service, project.id, 5)
    await appendRows(service, other.id, 5)
    await sealAll(service)
    await runJob()
    await tamper(service, 'update audit_checkpoints set hash = sha256(hash)')
    const found = await verdict()
    expect(found).toMatchObject({ status: 'broken', firstBrokenSeq: null })
    expect(found.reason).toMatch(/^a checkpoint or the verification state was changed/)
  })

  test('[audit-append.verify-on-request] needs the role maintainer, and appends nothing to the trail', async () => {
    const [maintainer, developer] = [
      await member('maintainer', 'maintainer'),
      await member('dev', 'developer'),
    ]
    await appendRows(service, project.id, 3)
    expect((await ask(maintainer)).data.found).toMatchObject({ status: 'ok', entries: 3 })
    expect((await ask(developer)).error).toMatch(/^not permitted: requires project role maintainer/)
    expect((await ask(maintainer, other.id)).error).toBe('project not found')
    expect((await ask(maintainer, 'nonsense')).error).toBe('project not found')
    const { rowCount } = await service.sql.query('select from audit_logs')
    expect(rowCount).toBe(3)
  })

  test('[audit-append.verify-on-request] refuses a start outside of the chain', async () => {
    await appendRows(service, project.id, 3)
    for (const [fromSeq, message] of [
      [0, 'fromSeq must be at least 1'],
      [-5, 'fromSeq must be at least 1'],
      [5, 'fromSeq must be at most 4, the number after the last row'],
      [2_147_483_647, 'fromSeq must be at most 4, the number after the last row'],
    ] as const) {
      const { error, errors } = await ask(admin, project.id, fromSeq)
      expect([error, errors[0]?.extensions?.code]).toEqual([message, 'bad_request'])
    }
  })

  test('[audit-append.verify-on-request] verifications wait for each other, and a project has at most four', async () => {
    const maintainer = await member('second', 'maintainer')
    await appendRows(service, project.id, 3)
    const holder = await service.sql.connect()
    await holder.query('begin; lock table audit_chains in access exclusive mode')
    const first = ask(admin)
    await waitForLockWait(service.sql)
    const waiting = [ask(admin, other.id), ask(admin), ask(admin), ask(admin)]
    await Promise.all(waiting.map((one) => Promise.race([one, setTimeout(1_000)])))
    const refused = await ask(maintainer)
    expect(refused.errors[0]?.extensions?.code).toBe('rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    await holder.query('rollback')
    holder.release()
    expect((await first).data.found.status).toBe('ok')
    for (const { error } of await Promise.all(waiting)) expect(error).toBeNull()
    expect((await ask(maintainer)).data.found.status).toBe('ok')
  })
})
