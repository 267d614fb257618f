// Tests chains that contain rows of the first hash format, which had no principal, and rows of the current
// format. Both formats are protected.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type AuditEntry, genesisHash, hashEntry } from '../../src/platform/audit/entry.ts'
import { type ChainReport, verifyChain } from '../../src/platform/audit/verify.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { runManager } from '../kit/commands.ts'
import { useProject } from '../kit/project.ts'

// Verification reads fewer rows than this in one batch, so it needs several batches.
const oldRows = 1_200
const newRows = 20

const { service, admin, project } = useProject({ slug: 'old' })
beforeAll(async () => {
  await insertOldRows()
  for (let i = 0; i < newRows; i++) {
    const { error } = await service.query(
      admin,
      'mutation($id: ID!, $name: String!) { updateProject(id: $id, input: {name: $name}) { id } }',
      { id: project.id, name: `name ${i}` },
    )
    expect(error).toBeNull()
  }
})

/** Inserts rows in the format of the previous release, without form and principal. */
async function insertOldRows(): Promise<void> {
  let prevHash = genesisHash
  const rows: (AuditEntry & { prevHash: Buffer; hash: Buffer })[] = []
  for (let seq = 1; seq <= oldRows; seq++) {
    const entry: AuditEntry = {
      form: 1,
      chainId: project.id,
      seq,
      id: randomUUID(),
      entityType: 'project',
      entityId: project.id,
      action: 'update',
      description: `change ${seq}`,
      metadata: {},
      changes: { name: { before: `${seq - 1}`, after: `${seq}` } },
      principal: null,
      userId: seq % 2 === 0 ? admin.id : null,
      ipAddress: '192.0.2.1',
      userAgent: 'before',
      createdAt: '2026-01-02T03:04:05.006Z',
    }
    const hash = hashEntry(entry, prevHash)
    rows.push({ ...entry, prevHash, hash })
    prevHash = hash
  }
  await service.sql.query(
    `insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, user_id,
       ip_address, user_agent, created_at, prev_hash, hash)
     select "chainId", seq, id, "entityType", "entityId", action, description, metadata, changes, "userId", "ipAddress",
       "userAgent", "createdAt", decode("prevHash", 'hex'), decode(hash, 'hex')
     from jsonb_to_recordset($1) as r ("chainId" uuid, seq bigint, id uuid, "entityType" text, "entityId" text,
       action text, description text, metadata jsonb, changes jsonb, "userId" uuid, "ipAddress" text, "userAgent" text,
       "createdAt" timestamptz, "prevHash" text, hash text)`,
    [
      JSON.stringify(
        rows.map((row) => ({
          ...row,
          prevHash: row.prevHash.toString('hex'),
          hash: row.hash.toString('hex'),
        })),
      ),
    ],
  )
  await service.sql.query('insert into audit_chains (chain_id, seq, hash) values ($1, $2, $3)', [
    project.id,
    oldRows,
    prevHash,
  ])
}

/** Applies the change and returns the verification report. */
async function whenChanged(change: string): Promise<ChainReport> {
  let report: ChainReport | undefined
  const client = await service.sql.connect()
  try {
    await client.query('begin')
    await client.query('set local session_replication_role = replica')
    await client.query('alter table audit_logs drop constraint if exists audit_logs_form')
    await client.query(`update audit_logs set ${change}`)
    await client.query('commit')
    report = await verifyChain(service.world.database.db.read, project.id, new Map())
  } finally {
    client.release()
  }
  return report
}

describe('one chain of two forms', () => {
  test('[audit-append.hash] many rows of the first form and new ones verify together', async () => {
    const { rows } = await service.sql.query(
      'select form, count(*)::int as rows from audit_logs where chain_id = $1 group by form order by form',
      [project.id],
    )
    expect(rows).toEqual([
      { form: 1, rows: oldRows },
      { form: 2, rows: newRows },
    ])
    const { code, stdout } = await runManager(['audit', 'verify'], testEnv(service.database.url))
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^audit trail ok: 1220 rows/)])
  })

  test('[audit-append.principal] a new row names who acted, and the hash covers it', async () => {
    const { data } = await service.query(
      admin,
      'query($p: ID!) { auditLogs(projectID: $p, pagination: {limit: 1, offset: 0}) { principalType principal user { id } } }',
      { p: project.id },
    )
    expect(data.auditLogs).toEqual([{ principalType: 'user', principal: admin.id, user: { id: admin.id } }])
  })

  const old = `chain_id = '$chain' and seq = 500`
  const recent = `chain_id = '$chain' and seq = ${oldRows + 7}`
  test.each([
    [
      'a principal in a row of the first form',
      `principal_type = 'system', principal_id = 'x' where ${old}`,
      500,
    ],
    ['another text in a row of the first form', `description = 'forged' where ${old}`, 500],
    ['a row of the first form that claims to be of the second', `form = 2 where ${old}`, 500],
    ['another principal', `principal_id = 'someone' where ${recent}`, oldRows + 7],
    ['another kind of principal', `principal_type = 'system' where ${recent}`, oldRows + 7],
    [
      'a new row that claims to be of the first form',
      `form = 1, principal_type = null, principal_id = null where ${recent}`,
      oldRows + 7,
    ],
    ['a form that nobody knows', `form = 3 where ${recent}`, oldRows + 7],
  ])('%s is found', async (_name, change, seq) => {
    const before = await service.sql.query('select * from audit_logs where chain_id = $1 and seq = $2', [
      project.id,
      seq,
    ])
    const report = await whenChanged(change.replace('$chain', project.id))
    expect([report.status, report.firstBrokenSeq, report.reason]).toEqual([
      'broken',
      seq,
      `row ${seq} was changed`,
    ])
    await restore(before.rows[0] as Record<string, unknown>)
    expect((await verifyChain(service.world.database.db.read, project.id, new Map())).status).toBe('ok')
  })

  async function restore(row: Record<string, unknown>): Promise<void> {
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('set local session_replication_role = replica')
    await client.query(
      'update audit_logs set form = $3, principal_type = $4, principal_id = $5, description = $6 where chain_id = $1 and seq = $2',
      [
        row['chain_id'],
        row['seq'],
        row['form'],
        row['principal_type'],
        row['principal_id'],
        row['description'],
      ],
    )
    await client.query('commit')
    client.release()
  }
})
