// Tests tampering as a database superuser: edits, deletions, swaps, truncations and rewritten histories.
// Verification against the last checkpoint detects every change at the right row.
import { writeFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { formatChain } from '../../src/platform/audit/chain-object.ts'
import { type Checkpoint, writeCheckpoint } from '../../src/platform/audit/checkpoint.ts'
import { readCheckpoints, verifyAudit } from '../../src/platform/audit/verify.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createSigningKey } from '../../src/platform/secrets/keys.ts'
import { masterKey } from '@manager/harness/callers.ts'
import { startTestApp } from '../kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { runManager } from '../kit/commands.ts'
import { useProject } from '../kit/project.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'
import { expectWholeVerificationFindsAll } from '../kit/random-tampering.ts'
import { Undo } from '../kit/tampering.ts'

const key = createSigningKey(Buffer.from(masterKey, 'base64'), 'audit-checkpoint')
const rowCount = 40

const change = (name: string) =>
  service.query(admin, `mutation { updateProject(id: "${project.id}", input: {name: "${name}"}) { id } }`)

const { service, admin, project } = useProject()
beforeAll(async () => {
  for (let i = 0; i < rowCount; i++) {
    await change(`name ${i}`)
    // Create three checkpoints. The last one covers the whole chain.
    if (i === 9 || i === 24 || i === rowCount - 1)
      await service.app.schedules.find((job) => job.name === 'audit-checkpoint')?.run()
  }
})

describe('verification', () => {
  test('[audit-append.chain-status] 100 random tamperings are all detected, each at the right row', async () => {
    const fresh = await startTestApp()
    await expectWholeVerificationFindsAll(fresh, project.id, 100)
    await fresh.close()
  })

  test('[audit-append.chain-object] the verdict on a chain has the published fields', async () => {
    const report = await verifyAudit(service.world.database.db, [key])
    const chain = report.chains.find(({ chainId }) => chainId === project.id)
    expect(chain).toBeDefined()
    expect(chain && formatChain(chain, new Date(0))).toEqual({
      status: 'ok',
      entries: rowCount,
      from_seq: 1,
      to_seq: rowCount,
      head_hash: chain?.headHash,
      first_broken_seq: null,
      reason: null,
      checkpoint: {
        size: rowCount,
        hash: chain?.headHash,
        signature: expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/),
        keyId: key.keyId,
        created_at: expect.stringMatching(/Z$/),
      },
      verified_at: '1970-01-01T00:00:00.000Z',
    })
  })

  test('[audit-append.chain-status] a trail without rows is empty', async () => {
    const fresh = await startTestApp()
    expect((await verifyAudit(fresh.world.database.db, [key])).status).toBe('empty')
    await fresh.close()
  })

  test('[audit-append.chain-status] the command names the broken row and exits 1', async () => {
    const broken = await startTestApp()
    const person = await seedUser(broken.sql, 'admin', 'administrator')
    const own = await seedProject(broken.sql, 'broken')
    for (const name of ['a', 'b', 'c'])
      await broken.query(
        person,
        `mutation { updateProject(id: "${own.id}", input: {name: "${name}"}) { id } }`,
      )
    await broken.sql.query(
      `begin; set local session_replication_role = replica; update audit_logs set description = 'forged' where seq = 2; commit`,
    )
    const result = await runManager(['audit', 'verify'], testEnv(broken.database.url))
    expect(result.code).toBe(1)
    expect(result.stdout).toContain(`BROKEN chain ${own.id} at seq 2: row 2 was changed`)
    const json = await runManager(['audit', 'verify', '--json'], testEnv(broken.database.url))
    expect(JSON.parse(json.stdout)).toMatchObject({ chain_id: own.id, status: 'broken', first_broken_seq: 2 })
    await broken.close()
  })
})

describe('checkpoints', () => {
  test('[audit-append.checkpoint] one over the chains that moved, signed; none when nothing moved', async () => {
    const run = () => writeCheckpoint(service.world.database.db, key, service.world.clock)
    expect(await run()).toBeNull()
    await change('moved')
    const checkpoint = (await run()) as Checkpoint
    expect(checkpoint.heads.map((head) => [head.chainId, head.seq])).toEqual([[project.id, rowCount + 1]])
    const { rows } = await service.sql.query<{ hash: Buffer; signature: Buffer }>(
      'select hash, signature from audit_checkpoints order by seq desc limit 1',
    )
    expect(key.verify(rows[0]?.hash as Buffer, rows[0]?.signature as Buffer)).toBe(true)
    expect(await run()).toBeNull()
  })

  test('[audit-append.checkpoint-kept-twice] the copy in the log is written whatever the log level', async () => {
    const lines: string[] = []
    const log = createLog('error', { write: (line: string) => void lines.push(line) })
    const quiet = await startTestApp({ database: service.database, world: { log } })
    await change('quiet')
    await quiet.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()
    await quiet.close()
    expect(lines.filter((line) => line.includes('"checkpoint"'))).toHaveLength(1)
  })

  test('[audit-append.checkpoint] several replicas at once write one', async () => {
    await change('race')
    const made = await Promise.all(
      Array.from({ length: 8 }, () => writeCheckpoint(service.world.database.db, key, service.world.clock)),
    )
    expect(made.filter((checkpoint) => checkpoint !== null)).toHaveLength(1)
  })

  test('[audit-append.checkpoint-kept-twice] the log stream holds every checkpoint, and shows what was rolled back in the database', async () => {
    const logged = service.logLines.flatMap((line) =>
      'checkpoint' in line ? [line['checkpoint'] as Checkpoint] : [],
    )
    const { rows } = await service.sql.query<{ seq: string; hash: Buffer }>(
      'select seq, hash from audit_checkpoints order by seq limit 3',
    )
    expect(logged.map(({ seq, hash }) => [seq, hash])).toEqual(
      rows.map(({ seq, hash }) => [Number(seq), hash.toString('hex')]),
    )
    const file = `${mkdtempSync(`${tmpdir()}/checkpoints-`)}/manager.log`
    await change('to be rolled back')
    await service.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()
    writeFileSync(
      file,
      `${service.logLines.map((line) => JSON.stringify(line)).join('\n')}\n{"checkpoint":{"se`,
    )
    const env = testEnv(service.database.url)
    expect((await runManager(['audit', 'verify', '--checkpoints', file], env)).code).toBe(0)
    // Remove the last row and every trace of it. The database then looks complete without external data.
    await service.sql.query(`begin; set local session_replication_role = replica;
      delete from audit_checkpoints where seq = (select max(seq) from audit_checkpoints);
      delete from audit_logs where chain_id = '${project.id}' and seq = (select max(seq) from audit_logs where chain_id = '${project.id}');
      update audit_chains c set seq = l.seq, checkpointed_seq = l.seq, hash = l.hash from (
        select * from audit_logs where chain_id = '${project.id}' order by seq desc limit 1) l where c.chain_id = l.chain_id; commit`)
    expect((await runManager(['audit', 'verify'], env)).code).toBe(0)
    const against = await runManager(['audit', 'verify', '--checkpoints', file], env)
    expect(against.code).toBe(1)
    expect(against.stdout).toMatch(/BROKEN chain .* rows are missing/)
    expect(against.stdout).toMatch(/exists outside the database but is missing from it/)
  })

  test('[audit-append.checkpoint] an edited, unlinked or foreign checkpoint is found', async () => {
    const edits = [
      "update audit_checkpoints set heads = '[]' where seq = 2",
      'update audit_checkpoints set signature = sha256(signature) || sha256(signature) where seq = 2',
      'delete from audit_checkpoints where seq = 2',
      "update audit_checkpoints set key_id = '0000000000000000' where seq = 2",
    ]
    for (const edit of edits) {
      const inside = service.world.database.db.transaction(async (tx) => {
        await sql`set local session_replication_role = replica`.execute(tx)
        await sql.raw(edit).execute(tx)
        const { problem } = await readCheckpoints(tx, [key], new Map())
        expect(problem).toMatch(/^checkpoint [23] /)
        throw new Undo()
      })
      await expect(inside).rejects.toThrow(Undo)
    }
  })
})
