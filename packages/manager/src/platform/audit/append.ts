// Appends audit rows in the transaction of the change they describe: both are kept or neither is.
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Tx } from '../db/database.ts'
import { newId } from '../ids.ts'
import { type FieldClasses, diffRows } from './changes.ts'
import { type AuditEntry, genesisHash, hashEntry, systemChain } from './entry.ts'

export type AuditActor = { user: { id: string } | null; ipAddress: string; userAgent: string }

export type AuditEvent = {
  /** The project whose chain takes the row; null for the system's. */
  projectId: string | null
  entityType: string
  entityId: string
  action: 'create' | 'update' | 'delete' | 'grant' | 'revoke'
  description: string
  classes: FieldClasses
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  metadata?: Record<string, unknown>
}

export type Audit = { append(tx: Tx, actor: AuditActor, ...events: AuditEvent[]): Promise<void> }

const maxUserAgentLength = 500

/**
 * Costs two statements per chain. The head row is locked until the transaction ends, so writers of one project queue
 * here and seq has no gap; call it last.
 */
export function createAudit(clock: Clock): Audit {
  return {
    append: async (tx, actor, ...all) => {
      const byChain = Map.groupBy(all, (event) => event.projectId ?? systemChain)
      // Always in the same order, so that two transactions over the same chains cannot wait for each other.
      for (const chainId of [...byChain.keys()].toSorted()) {
        const head = await lockHead(tx, chainId)
        const events = byChain.get(chainId) ?? []
        const rows = chainOn({ chainId, head, actor, now: clock.now() }, events)
        await insert(tx, chainId, rows)
      }
    },
  }
}

type Head = { seq: number; hash: Buffer }
type HashedEntry = AuditEntry & { prevHash: Buffer; hash: Buffer }

async function lockHead(tx: Tx, chainId: string): Promise<Head> {
  const select = tx
    .selectFrom('auditChains')
    .select(['seq', 'hash'])
    .where('chainId', '=', chainId)
    .forUpdate()
  let row = await select.executeTakeFirst()
  if (row === undefined) {
    await tx
      .insertInto('auditChains')
      .values({ chainId, seq: 0, hash: genesisHash })
      .onConflict((conflict) => conflict.column('chainId').doNothing())
      .execute()
    row = await select.executeTakeFirstOrThrow()
  }
  return { seq: Number(row.seq), hash: row.hash }
}

type Link = { chainId: string; head: Head; actor: AuditActor; now: Date }

function chainOn({ chainId, head, actor, now }: Link, events: readonly AuditEvent[]): HashedEntry[] {
  let { seq, hash } = head
  return events.map((event) => {
    const entry: AuditEntry = {
      chainId,
      seq: ++seq,
      id: newId(),
      entityType: event.entityType,
      entityId: event.entityId,
      action: event.action,
      description: storable(event.description),
      metadata: event.metadata ?? {},
      changes: diffRows(event.classes, event.before, event.after),
      userId: actor.user?.id ?? null,
      ipAddress: storable(actor.ipAddress),
      userAgent: storable(actor.userAgent).slice(0, maxUserAgentLength).toWellFormed(),
      createdAt: now.toISOString(),
    }
    const prevHash = hash
    hash = hashEntry(entry, prevHash)
    return { ...entry, prevHash, hash }
  })
}

async function insert(tx: Tx, chainId: string, rows: HashedEntry[]): Promise<void> {
  const last = rows.at(-1)
  if (last === undefined) return
  await tx
    .with('moved', (cte) =>
      cte.updateTable('auditChains').set({ seq: last.seq, hash: last.hash }).where('chainId', '=', chainId),
    )
    .insertInto('auditLogs')
    .values(
      rows.map((row) => ({
        ...row,
        metadata: sql`${JSON.stringify(row.metadata)}::jsonb`,
        changes: sql`${JSON.stringify(row.changes)}::jsonb`,
      })),
    )
    .execute()
}

// What PostgreSQL would store differently must not reach the hash.
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
