// Appends thousands of audit rows in the same format as the service.
import { sql } from 'kysely'
import { type Checkpoint, sealMovedChains } from '../../src/platform/audit/checkpoint.ts'
import { genesisHash, hashEntry, currentForm, systemChain } from '../../src/platform/audit/entry.ts'
import { createQuery } from '../../src/platform/audit/rows.ts'
import { findHead } from '../../src/platform/audit/verify.ts'
import { newId } from '../../src/platform/ids.ts'
import { createSigningKey } from '../../src/platform/secrets/keys.ts'
import { deriveVerificationKey } from '../../src/platform/audit/verification-marks.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import type { TestApp } from './app.ts'
import { masterKey } from '@manager/harness/callers.ts'

const key = Buffer.from(masterKey, 'base64')
export const checkpointKey = createSigningKey(key, 'audit-checkpoint')
export const macKey = deriveVerificationKey(key)

/** The fields of a test app that these functions need. */
type Trail = { world: { database: Pick<Database, 'db'>; clock: Clock } }

/**
 * Appends rows to a chain in batches of 1,000, with the same content as individual appends. If `projectId` is
 * null, appends to the system chain.
 */
export async function appendRows({ world }: Trail, projectId: string | null, count: number): Promise<void> {
  const { db } = world.database
  const chainId = projectId ?? systemChain
  const head = await findHead(createQuery(db.read), chainId)
  let state = { seq: head?.seq ?? 0, hash: head?.hash ?? genesisHash }
  for (let left = count; left > 0; left -= 1_000) {
    const rows: Record<string, unknown>[] = []
    for (let index = 0; index < Math.min(1_000, left); index++) {
      const entry = entryAt(chainId, state.seq + 1)
      const { principal, ...columns } = entry
      const hash = hashEntry(entry, state.hash)
      const hashes = { prevHash: state.hash.toString('hex'), hash: hash.toString('hex') }
      rows.push({ ...columns, principalType: principal.type, principalId: principal.id, ...hashes })
      state = { seq: entry.seq, hash }
    }
    await sql`insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes,
        form, principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
      select (r->>'chainId')::uuid, (r->>'seq')::bigint, (r->>'id')::uuid, r->>'entityType', r->>'entityId', r->>'action',
        r->>'description', r->'metadata', r->'changes', (r->>'form')::smallint, r->>'principalType', r->>'principalId',
        null, r->>'ipAddress', r->>'userAgent', (r->>'createdAt')::timestamptz, decode(r->>'prevHash', 'hex'), decode(r->>'hash', 'hex')
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) r`.execute(db.write)
  }
  await sql`insert into audit_chains (chain_id, seq, hash) values (${chainId}, ${state.seq}, ${state.hash})
    on conflict (chain_id) do update set seq = excluded.seq, hash = excluded.hash`.execute(db.write)
}

const entryAt = (chainId: string, seq: number) => ({
  form: currentForm,
  chainId,
  seq,
  id: newId(),
  entityType: 'project',
  entityId: chainId,
  action: 'update',
  description: `change ${seq} – “ä”\u2028`,
  metadata: { seq, ratio: seq / 7, list: [null, true, { b: 1, a: 'ü' }] },
  changes: { name: { before: `name ${seq}`, after: `name ${seq + 1}` } },
  principal: { type: 'system' as const, id: 'test' },
  userId: null,
  ipAddress: '',
  userAgent: '',
  createdAt: new Date(1_790_000_000_000 + seq * 1_234).toISOString(),
})

/** Writes checkpoints for all chains that have new rows, and returns the checkpoints. */
export async function sealAll({ world }: Trail): Promise<Checkpoint[]> {
  const made: Checkpoint[] = []
  await sealMovedChains(world.database.db, checkpointKey, world.clock, (checkpoint) => made.push(checkpoint))
  return made
}

/** Changes audit tables as a superuser who has disabled their triggers. */
export const tamper = ({ sql: pool }: TestApp, text: string): Promise<unknown> =>
  pool.query(`begin; set local session_replication_role = replica; ${text}; commit`)

/** Empties the audit trail and the verification state. */
export const clearTrail = (service: TestApp): Promise<unknown> =>
  tamper(
    service,
    'truncate audit_logs, audit_chains, audit_checkpoints, audit_verification, audit_verified_chains',
  )
