// Appends hundreds of audit rows in the transaction of the changes they describe, with two statements per chain. The
// first statement locks the head of the chain until the end of the transaction, so use this function only for bulk
// work; requests use `append`.
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Tx } from '../postgres/handles.ts'
import {
  type AuditActor,
  type AuditEvent,
  type NewEntry,
  getChainId,
  createEntry,
  startChain,
} from './append.ts'
import { hashEntry } from './entry.ts'

/** Appends one audit row per event, all by the same actor, in the caller's transaction. */
export type AppendMany = (tx: Tx, actor: AuditActor, events: readonly AuditEvent[]) => Promise<void>

/** Creates an `AppendMany`. Rows of one chain receive consecutive numbers in the order of the events. */
export const createAppendMany =
  (clock: Clock): AppendMany =>
  async (tx, actor, events) => {
    const chains = Map.groupBy(events, getChainId)
    // Chains are locked in a fixed order, so that two transactions on the same chains cannot deadlock.
    for (const chainId of [...chains.keys()].toSorted())
      await appendToChain(
        tx,
        chainId,
        (chains.get(chainId) ?? []).map((event) => createEntry(event, actor, clock.now())),
      )
  }

async function appendToChain(tx: Tx, chainId: string, entries: readonly NewEntry[]): Promise<void> {
  let { seq, hash } = await lockHead(tx, chainId)
  const rows = entries.map((entry) => {
    const { principal, metadata, changes } = entry
    const prevHash = hash
    hash = hashEntry({ ...entry, seq: ++seq }, prevHash)
    return {
      chain_id: chainId,
      seq,
      id: entry.id,
      entity_type: entry.entityType,
      entity_id: entry.entityId,
      action: entry.action,
      description: entry.description,
      metadata,
      changes,
      form: entry.form,
      principal_type: principal.type,
      principal_id: principal.id,
      user_id: entry.userId,
      ip_address: entry.ipAddress,
      user_agent: entry.userAgent,
      created_at: entry.createdAt,
      prev_hash: `\\x${prevHash.toString('hex')}`,
      hash: `\\x${hash.toString('hex')}`,
    }
  })
  await sql`
    with moved as (update audit_chains set seq = ${seq}, hash = ${hash} where chain_id = ${chainId})
    insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
      principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
    select chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
      principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash
    from jsonb_populate_recordset(null::audit_logs, ${JSON.stringify(rows)}::jsonb)`.execute(tx)
}

async function lockHead(tx: Tx, chainId: string): Promise<{ seq: number; hash: Buffer }> {
  const readHead = () =>
    tx
      .selectFrom('auditChains')
      .select(['seq', 'hash'])
      .where('chainId', '=', chainId)
      .forUpdate()
      .executeTakeFirst()
  let head = await readHead()
  if (head === undefined) {
    await startChain(tx, chainId)
    head = await readHead()
  }
  if (head === undefined) throw new Error(`the audit chain ${chainId} has no head`)
  return { seq: Number(head.seq), hash: head.hash }
}
