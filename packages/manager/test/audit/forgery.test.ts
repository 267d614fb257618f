// Tests that verification finds forgeries by an attacker who owns the database or has a retired key.
import { sealedColumns } from '../../src/app.ts'
import { createSecretKey, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildToken, hasValidChecksum } from '../../src/features/access-tokens/token.pure.ts'
import { type Checkpoint, writeCheckpoint } from '../../src/platform/audit/checkpoint.ts'
import { genesisHash, hashEntry } from '../../src/platform/audit/entry.ts'
import { parseEntry } from '../../src/platform/audit/rows.ts'
import { verifyAudit } from '../../src/platform/audit/verify.ts'
import { createSigningKey, createEncryptionRing } from '../../src/platform/secrets/keys.ts'
import { rotateMasterKey } from '../../src/platform/master-key/rotate.ts'
import { loadRetiredKeys } from '../../src/platform/master-key/retired-keys.ts'
import { assertMasterKey } from '../../src/platform/secrets/master-key.ts'
import { createSecrets } from '../../src/platform/secrets/secrets.ts'
import { masterKey, type Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

const previousKey = Buffer.from(masterKey, 'base64')
const key = createSigningKey(previousKey, 'audit-checkpoint')
let service: TestApp
let admin: Person
let project: SeededProject
const db = () => service.world.database.db
beforeEach(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'p')
})
afterEach(() => service.close())

let count = 0
const change = ({ id } = project) =>
  service.query(
    admin,
    'mutation($id: ID!, $n: String!) { updateProject(id: $id, input: {name: $n}) { id } }',
    {
      id,
      n: `name ${count++}`,
    },
  )
const seal = () => service.app.schedules.find(({ name }) => name === 'audit-checkpoint')?.run()

/** Changes a row and recomputes every later hash and the chain head, as a database owner can. */
async function rewrite({ id } = project, at = 1): Promise<void> {
  const run = (text: string, values: unknown[] = []) => service.sql.query(text, values)
  await run('alter table audit_logs disable trigger all')
  await run("update audit_logs set description = 'forged' where chain_id = $1 and seq = $2", [id, at])
  const rows = await db()
    .read.selectFrom('auditLogs')
    .selectAll()
    .where('chainId', '=', id)
    .orderBy('seq')
    .execute()
  let previous = genesisHash
  for (const row of rows) {
    const hash = hashEntry(parseEntry(row), previous)
    await run('update audit_logs set prev_hash = $3, hash = $4 where chain_id = $1 and seq = $2', [
      id,
      row.seq,
      previous,
      hash,
    ])
    previous = hash
  }
  await run('update audit_chains set hash = $2 where chain_id = $1', [id, previous])
}
const forgetCheckpoints = () =>
  service.sql.query(
    'alter table audit_checkpoints disable trigger all; delete from audit_checkpoints; update audit_chains set checkpointed_seq = 0',
  )

test('[audit-append.checkpoint-kept-twice] checkpoints of a log that are not those of the database show another history', async () => {
  const other = await seedProject(service.sql, 'other')
  for (const [moved, times] of [
    [project, 2],
    [other, 1],
    [other, 1],
  ] as const) {
    for (let i = 0; i < times; i++) await change(moved)
    await seal()
  }
  const logged = service.logLines.flatMap((line) =>
    'checkpoint' in line ? [line['checkpoint'] as Checkpoint] : [],
  )
  // The log was rotated, so it no longer contains the checkpoint that covered the project.
  const kept = logged.slice(-2)
  expect((await verifyAudit(db(), [key], { external: kept })).status).toBe('ok')
  await forgetCheckpoints()
  await rewrite()
  // The service keeps running and signs the forged history.
  for (let i = 0; i < 4; i++) {
    await seal()
    await change(other)
  }
  await seal()
  const report = await verifyAudit(db(), [key], { external: kept })
  expect([report.status, report.checkpoints.problem]).toEqual([
    'broken',
    'checkpoint 2 in the database differs from its external copy',
  ])
})

describe('a chain that claims to be sealed', () => {
  test('beyond its head is refused by the database', async () => {
    await change()
    await expect(
      service.sql.query('update audit_chains set checkpointed_seq = seq + 1 where chain_id = $1', [
        project.id,
      ]),
    ).rejects.toThrow(/audit_chains_checkpointed/)
  })

  test('where no checkpoint sealed it is found', async () => {
    await change()
    await seal()
    await change()
    await service.sql.query('update audit_chains set checkpointed_seq = seq where chain_id = $1', [
      project.id,
    ])
    await seal()
    const report = await verifyAudit(db(), [key])
    expect(report.chains.find(({ chainId }) => chainId === project.id)).toMatchObject({
      status: 'broken',
      firstBrokenSeq: 2,
      reason: "the chain's head refers to a checkpoint that does not exist",
    })
  })

  test('a checkpoint far ahead of the others, after which no number would be left, is refused', async () => {
    await expect(
      service.sql.query(
        `insert into audit_checkpoints (seq, created_at, heads, prev_hash, hash, signature, key_id)
         values (9223372036854775807, now(), '[]', '', '', '', 'x')`,
      ),
    ).rejects.toThrow(/checkpoints are written one after the other/)
  })
})

describe('a master key that was exchanged because it leaked', () => {
  const nextKey = randomBytes(32)
  const side = (own: Buffer) => ({ masterKey: own, secrets: createSecrets(createEncryptionRing(own)) })
  const [from, to] = [side(previousKey), side(nextKey)]
  const exchange = async () => {
    await change()
    await assertMasterKey(db(), previousKey)
    await seal()
    await db().transaction((tx) => rotateMasterKey(tx, { sealedColumns, from, to }))
  }

  test('signs no history after the exchange, nor another one before it', async () => {
    await exchange()
    const present = createSigningKey(nextKey, 'audit-checkpoint')
    await change()
    await writeCheckpoint(db(), present, service.world.clock)
    const keys = [present, ...(await loadRetiredKeys(db().read, to.secrets)).checkpointKeys]
    expect((await verifyAudit(db(), keys)).status).toBe('ok')
    await forgetCheckpoints()
    await rewrite(project, 2)
    await writeCheckpoint(db(), key, service.world.clock)
    expect((await verifyAudit(db(), keys)).checkpoints.problem).toBe(
      'checkpoint 1 is not the last checkpoint that a retired key signed',
    )
    await change()
    await writeCheckpoint(db(), key, service.world.clock)
    expect((await verifyAudit(db(), keys)).checkpoints.problem).toMatch(
      /^checkpoint 2 is signed with the key \w+, which was already retired$/,
    )
  })

  test('keeps its purposes: the public key of checkpoints is no check of tokens', async () => {
    await exchange()
    const swap = "update retired_keys set purpose = 'access-token-check' where purpose = 'audit-checkpoint'"
    const { checkKeys } = await loadRetiredKeys(db().read, to.secrets)
    const forged = buildToken('AAAAAAAA', 'B'.repeat(26), createSecretKey(key.publicKey))
    expect(hasValidChecksum(forged, checkKeys)).toBe(false)
    await service.sql.query(swap)
    await expect(loadRetiredKeys(db().read, to.secrets)).rejects.toThrow(
      /was modified: its sealed purpose is not access-token-check/,
    )
  })
})
