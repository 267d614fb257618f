// Appends audit rows in the transaction of the change they describe: both are kept or neither is.
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Tx } from '../postgres/handles.ts'
import { newId } from '../ids.ts'
import { type FieldClasses, diffRows } from './changes.ts'
import {
  type AuditEntry,
  type Principal,
  aroundHead,
  genesisHash,
  presentForm,
  systemChain,
} from './entry.ts'

export type AuditActor = {
  principal: Principal
  ipAddress: string
  userAgent: string
  /** Of the request that asked for the change, if it has a trace. */
  traceId?: string | undefined
}

/** The actor of what a job or a command does; `name` says which. */
export const systemActor = (name: string): AuditActor => ({
  principal: { type: 'system', id: name },
  ipAddress: '',
  userAgent: '',
})

export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'grant'
  | 'revoke'
  | 'rotate'
  | 'approve'
  | 'deny'
  | 'deliver'
  | 'export'
  | 'read'
  | 'attest'

export type AuditEvent = {
  /** The project whose chain takes the row; null for the system's. */
  projectId: string | null
  entityType: string
  entityId: string
  action: AuditAction
  description: string
  classes: FieldClasses
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  metadata?: Record<string, unknown>
}

export type Audit = { append(tx: Tx, actor: AuditActor, ...events: AuditEvent[]): Promise<void> }

const maxUserAgentLength = 500

/**
 * Costs one statement per event. It locks the head of the chain until the transaction ends, so writers of one project
 * queue here and seq has no gap; call it last, to hold the lock as briefly as possible.
 */
export function createAudit(clock: Clock): Audit {
  return {
    append: async (tx, actor, ...events) => {
      // Always in the same order, so that two transactions over the same chains cannot deadlock.
      const ordered = events.toSorted((a, b) =>
        chainOf(a) < chainOf(b) ? -1 : chainOf(a) > chainOf(b) ? 1 : 0,
      )
      for (const event of ordered) await appendOne(tx, entryOf(event, actor, clock.now()))
    },
  }
}

export type NewEntry = Omit<AuditEntry, 'seq' | 'principal'> & { principal: Principal }
export const chainOf = (event: AuditEvent): string => event.projectId ?? systemChain

/** What is appended for an event. */
export function entryOf(event: AuditEvent, actor: AuditActor, now: Date): NewEntry {
  const { principal } = actor
  return {
    form: presentForm,
    chainId: chainOf(event),
    id: newId(),
    entityType: event.entityType,
    entityId: event.entityId,
    action: event.action,
    description: storable(event.description),
    metadata:
      actor.traceId === undefined ? (event.metadata ?? {}) : { ...event.metadata, traceId: actor.traceId },
    changes: diffRows(event.classes, event.before, event.after),
    principal,
    userId: principal.type === 'user' ? principal.id : null,
    ipAddress: storable(actor.ipAddress),
    userAgent: storable(storable(actor.userAgent).slice(0, maxUserAgentLength)),
    createdAt: now.toISOString(),
  }
}

/**
 * The database takes the head, computes the hash and moves the head in one statement: one round trip under the lock.
 */
async function appendOne(tx: Tx, entry: NewEntry): Promise<void> {
  const { before, middle, after } = aroundHead(entry)
  const append = sql`
    with head as (
      select seq + 1 as seq, hash as prev_hash from audit_chains where chain_id = ${entry.chainId} for update
    ), link as (
      select seq, prev_hash, sha256(convert_to(
        ${before}::text || encode(prev_hash, 'hex') || ${middle}::text || seq::text || ${after}::text, 'UTF8')) as hash
      from head
    ), moved as (
      update audit_chains c set seq = link.seq, hash = link.hash from link where c.chain_id = ${entry.chainId}
    )
    insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
      principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
    select ${entry.chainId}, seq, ${entry.id}, ${entry.entityType}, ${entry.entityId}, ${entry.action},
      ${entry.description}, ${JSON.stringify(entry.metadata)}::jsonb, ${JSON.stringify(entry.changes)}::jsonb,
      ${entry.form}, ${entry.principal.type}, ${entry.principal.id}, ${entry.userId}, ${entry.ipAddress}, ${entry.userAgent}, ${entry.createdAt}::timestamptz, prev_hash, hash
    from link`
  const { numAffectedRows } = await append.execute(tx)
  if (numAffectedRows === 1n) return
  await startChain(tx, entry.chainId)
  const again = await append.execute(tx)
  if (again.numAffectedRows !== 1n) throw new Error(`the audit chain ${entry.chainId} has no head`)
}

/** Makes the head of a chain before its first row. */
export async function startChain(tx: Tx, chainId: string): Promise<void> {
  await tx
    .insertInto('auditChains')
    .values({ chainId, seq: 0, hash: genesisHash })
    .onConflict((conflict) => conflict.column('chainId').doNothing())
    .execute()
}

// What PostgreSQL would store differently must not reach the hash.
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
