// Tampers randomly with the audit trail, with changes that the owner of the database could make.
import { sql } from 'kysely'
import { hashEntry } from '../../src/platform/audit/entry.ts'
import { parseEntry } from '../../src/platform/audit/rows.ts'
import type { Tx } from '../../src/platform/postgres/handles.ts'

/** Returns a small seeded random generator, so that a failing case can be reproduced. */
export function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Tampering = { kind: string; expected: number; apply: (tx: Tx) => Promise<unknown> }
const columns: [string, string][] = [
  ['description', "description || 'x'"],
  ['action', "action || 'x'"],
  ['entity_type', "entity_type || 'x'"],
  ['entity_id', "entity_id || 'x'"],
  ['user_agent', "user_agent || 'x'"],
  ['ip_address', "ip_address || '1'"],
  ['user_id', 'gen_random_uuid()'],
  ['principal_id', "principal_id || 'x'"],
  ['principal_type', "case principal_type when 'system' then 'user' else 'system' end"],
  ['id', 'gen_random_uuid()'],
  ['created_at', "created_at + interval '1 millisecond'"],
  ['metadata', `metadata || '{"x":1}'`],
  ['changes', `changes || '{"x":1}'`],
  ['prev_hash', 'sha256(prev_hash)'],
  ['hash', 'sha256(hash)'],
]

/**
 * Returns one random change to a chain and the row at which verification must find it. `sealedAt` lists the rows at
 * which checkpoints were created.
 */
export function tampering(
  pick: (below: number) => number,
  { chainId: chain, rowCount, sealedAt }: { chainId: string; rowCount: number; sealedAt: readonly number[] },
): Tampering {
  const at = 1 + pick(rowCount)
  const kind = ['edit', 'delete', 'swap', 'truncate', 'truncate with head', 'rewrite'][pick(6)] as string
  const raw = (text: string) => (tx: Tx) => sql.raw(text).execute(tx)
  const where = `where chain_id = '${chain}'`
  if (kind === 'edit') {
    const [column, value] = columns[pick(columns.length)] as [string, string]
    return {
      kind: `edit ${column}`,
      expected: at,
      apply: raw(`update audit_logs set ${column} = ${value} ${where} and seq = ${at}`),
    }
  }
  if (kind === 'delete')
    return { kind, expected: at, apply: raw(`delete from audit_logs ${where} and seq = ${at}`) }
  if (kind === 'swap') {
    const other = 1 + ((at + pick(rowCount - 1)) % rowCount)
    const apply = async (tx: Tx) => {
      await raw(`update audit_logs set seq = 100000000 ${where} and seq = ${at}`)(tx)
      await raw(`update audit_logs set seq = ${at} ${where} and seq = ${other}`)(tx)
      await raw(`update audit_logs set seq = ${other} ${where} and seq = 100000000`)(tx)
    }
    return { kind, expected: Math.min(at, other), apply }
  }
  if (kind === 'rewrite')
    return {
      kind,
      expected: sealedAt.find((sealed) => sealed >= at) as number,
      apply: (tx) => rewriteFrom(tx, chain, at),
    }
  const apply = async (tx: Tx) => {
    await raw(`delete from audit_logs ${where} and seq >= ${at}`)(tx)
    if (kind === 'truncate with head')
      await raw(`update audit_chains c set seq = ${at - 1}, checkpointed_seq = least(checkpointed_seq, ${at - 1}), hash = coalesce(
        (select hash from audit_logs ${where} and seq = ${at - 1}), decode(repeat('00', 32), 'hex')) ${where}`)(
        tx,
      )
  }
  return { kind, expected: at, apply }
}

/** Replaces the database with a backup from an earlier checkpoint. The backup is internally consistent. */
export function restoreBackup(
  pick: (below: number) => number,
  { chainId, sealedAt }: { chainId: string; sealedAt: readonly number[] },
): Tampering {
  const kept = 1 + pick(sealedAt.length - 1)
  const at = sealedAt[kept - 1] ?? 0
  const apply = async (tx: Tx): Promise<void> => {
    await sql.raw(`delete from audit_logs where chain_id = '${chainId}' and seq > ${at}`).execute(tx)
    await sql.raw(`delete from audit_checkpoints where seq > ${kept}`).execute(tx)
    await sql
      .raw(
        `update audit_chains c set seq = ${at}, checkpointed_seq = ${at}, hash = l.hash from audit_logs l
         where c.chain_id = '${chainId}' and l.chain_id = c.chain_id and l.seq = ${at}`,
      )
      .execute(tx)
  }
  return { kind: 'restore backup', expected: at + 1, apply }
}

/**
 * The worst case: changes a row and recomputes every later hash and the chain head. Only a checkpoint can reveal it.
 */
export async function rewriteFrom(tx: Tx, chain: string, at: number): Promise<void> {
  await sql
    .raw(`update audit_logs set description = description || '!' where chain_id = '${chain}' and seq = ${at}`)
    .execute(tx)
  const rows = await tx
    .selectFrom('auditLogs')
    .selectAll()
    .where('chainId', '=', chain)
    .orderBy('seq')
    .execute()
  let previous: Buffer = Buffer.alloc(32)
  for (const row of rows) {
    const hash = hashEntry(parseEntry(row), previous)
    await tx
      .updateTable('auditLogs')
      .set({ prevHash: previous, hash })
      .where('chainId', '=', chain)
      .where('seq', '=', row.seq)
      .execute()
    previous = hash
  }
  await tx.updateTable('auditChains').set({ hash: previous }).where('chainId', '=', chain).execute()
}

/** Thrown to roll back a transaction. */
export class Undo extends Error {}
